// Options of jemalloc that the user cannot choose.

extern "C" {

// jemalloc reads this source of options last, so it wins. jemalloc would start
// a background thread inside the first allocation, under a lock that opening
// the thread's counters waits for. A thread that purges now and then also makes
// runs differ.
extern const char* malloc_conf_2_conf_harder;
const char* malloc_conf_2_conf_harder = "background_thread:false";

}  // extern "C"

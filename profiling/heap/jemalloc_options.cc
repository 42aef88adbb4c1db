// Options of jemalloc that are not the user's to choose.

extern "C" {

// The last of jemalloc's sources of options, so the one that wins. A background
// thread would be started inside the first allocation, under a lock that
// opening the thread's counters waits for; and one that purges now and then
// makes no two runs alike.
extern const char* malloc_conf_2_conf_harder;
const char* malloc_conf_2_conf_harder = "background_thread:false";

}  // extern "C"

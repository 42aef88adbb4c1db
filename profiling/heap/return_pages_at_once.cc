// Makes jemalloc return pages to the system as soon as they hold no live block.
// It is linked into a program with exact_heap.

extern "C" {

// jemalloc's own variable for a program's options, defined by the program.
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:0,muzzy_decay_ms:0";

}  // extern "C"

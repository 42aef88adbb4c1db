// Linked into a program with exact_heap: jemalloc gives pages back to the
// system as soon as nothing lives in them, and keeps none for later.

extern "C" {

// jemalloc's own variable for a program's options, in the program.
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:0,muzzy_decay_ms:0";

}  // extern "C"

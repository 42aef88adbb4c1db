// Replaces elfutils' client of debuginfod, so that no report asks a server,
// whatever DEBUGINFOD_URLS says: a server would learn which programs are
// measured, and a slow one would hold a report up. The definitions are weak, so
// that a version of libdw that links its own client for another reason still
// links; the test finds that. They also keep libdebuginfod and libcurl from
// being loaded.

extern "C" {

// Returns no file: -1.
__attribute__((weak)) int __libdwfl_debuginfod_find_debuginfo(
    void* /*dwfl*/, const unsigned char* /*build_id*/, unsigned long) {
  return -1;
}

// Returns no file: -1.
__attribute__((weak)) int __libdwfl_debuginfod_find_executable(
    void* /*dwfl*/, const unsigned char* /*build_id*/, unsigned long) {
  return -1;
}

__attribute__((weak)) void __libdwfl_debuginfod_end(void* /*client*/) {}

}  // extern "C"

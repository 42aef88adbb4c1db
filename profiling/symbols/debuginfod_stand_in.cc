// Stands in for libdebuginfod, whose name the library has, and counts how often
// it is asked. It has a build ID and no debug information.

namespace {

int asked = 0;

}  // namespace

extern "C" {

// Returns how often a file was asked for.
int TimesAsked() { return asked; }

void* debuginfod_begin() { return &asked; }

void debuginfod_end(void* /*client*/) {}

int debuginfod_find_debuginfo(void* /*client*/,
                              const unsigned char* /*build_id*/, int,
                              char** /*path*/) {
  ++asked;
  return -1;
}

int debuginfod_find_executable(void* /*client*/,
                               const unsigned char* /*build_id*/, int,
                               char** /*path*/) {
  ++asked;
  return -1;
}

}  // extern "C"

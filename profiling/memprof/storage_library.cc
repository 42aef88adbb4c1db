// A library with thread-local storage, for tests of memprof. Built twice, with
// FUNCTION the name of where it allocates, and with another amount of code in
// front of it.

#include <stdlib.h>
#include <string.h>

namespace {

thread_local char storage[2048];

}  // namespace

extern "C" {

void* held_blocks[64];
int held_count = 0;

__attribute__((noinline)) void* FUNCTION() {
  void* const block = malloc(10248);
  memset(block, 1, 10248);
  return block;
}

void UseThreadStorage() {
  memset(storage, 1, sizeof(storage));
#ifdef FOOTPRINT_MORE_CODE
  for (int i = 0; i < 3; ++i) storage[i] = static_cast<char>(rand());
#endif
  if (held_count < 64) held_blocks[held_count++] = FUNCTION();
}

}  // extern "C"

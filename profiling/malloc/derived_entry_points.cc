// The members of malloc's family that are one call of another: each counts by
// calling the program's realloc or free, whichever source defines that.

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

extern "C" {

void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t product;
  if (__builtin_mul_overflow(count, size, &product)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, product);
}

// C23's. The size is a hint, and jemalloc has the two from 5.3.1 on.
void free_sized(void* block, size_t) noexcept { free(block); }
void free_aligned_sized(void* block, size_t, size_t) noexcept { free(block); }

}  // extern "C"

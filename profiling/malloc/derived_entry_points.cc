// The functions of malloc's family that consist of one call of another. Each is
// counted because it calls the program's realloc or free, whichever source
// defines that.

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

// The two functions are C23's. The size is a hint, and jemalloc has them from
// 5.3.1 on.
void free_sized(void* block, size_t) noexcept { free(block); }
void free_aligned_sized(void* block, size_t, size_t) noexcept { free(block); }

}  // extern "C"

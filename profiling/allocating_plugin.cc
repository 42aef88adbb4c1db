// A shared library that adversarial_benchmark loads while it runs: it knows
// nothing of how the program counts.

#include <stdlib.h>
#include <sys/mman.h>

#include <new>

namespace {

// What loading alone allocates.
struct LoadedBlock {
  LoadedBlock() : bytes(malloc(1 << 20)) {}
  ~LoadedBlock() { free(bytes); }
  void* volatile bytes;
};
LoadedBlock loaded_block;

}  // namespace

// Holds 4 * `size` bytes of the heap at once, and `size` that it mapped; true
// if it got all of them. `size` is a multiple of the page size.
extern "C" bool HoldFiveBlocks(size_t size) {
  void* volatile plain = malloc(size);
  void* volatile aligned = aligned_alloc(64, size);
  void* volatile with_new = ::operator new(size);
  void* checked = nullptr;
  const int error = posix_memalign(&checked, 64, size);
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool has_all = plain != nullptr && aligned != nullptr && error == 0 &&
                       mapped != MAP_FAILED;
  if (mapped != MAP_FAILED) munmap(mapped, size);
  free(checked);
  ::operator delete(with_new);
  free(aligned);
  free(plain);
  return has_all;
}

#include "footprint/base/memory/jemalloc_controls.h"

#include <cstddef>

// Weak, so that the library links without jemalloc.
extern "C" {
__attribute__((weak)) int mallctl(const char* name, void* old_value,
                                  size_t* old_size, void* new_value,
                                  size_t new_size) noexcept;
}

namespace footprint::memo_internal {
namespace {

void Do(const char* name) {
  if (mallctl != nullptr) mallctl(name, nullptr, nullptr, nullptr, 0);
}

template <typename T>
int64_t Read(const char* name) {
  T value = 0;
  size_t size = sizeof(value);
  if (mallctl == nullptr || mallctl(name, &value, &size, nullptr, 0) != 0) {
    return 0;
  }
  return static_cast<int64_t>(value);
}

}  // namespace

void FlushThreadCache() { Do("thread.tcache.flush"); }

int64_t ReadRetainedBytes() { return Read<size_t>("stats.retained"); }

int64_t ReadThreadHeapPeakBytes() { return Read<uint64_t>("thread.peak.read"); }

void ResetThreadHeapPeak() { Do("thread.peak.reset"); }

}  // namespace footprint::memo_internal

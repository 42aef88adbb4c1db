#include "footprint/profiling/heap/thread_start.h"

#include <atomic>

namespace footprint::profiling_internal {
namespace {

std::atomic<const ThreadWrapper*> current{nullptr};

}  // namespace

void SetThreadWrapper(const ThreadWrapper* wrapper) {
  current.store(wrapper, std::memory_order_release);
}

const ThreadWrapper* CurrentThreadWrapper() {
  return current.load(std::memory_order_acquire);
}

}  // namespace footprint::profiling_internal

#include "footprint/base/memory/allocator.h"

#include <cstdio>

// This is weak, so that the library also links without jemalloc, and then
// reports zeros.
extern "C" {
__attribute__((weak)) int mallctl(const char* name, void* old_value,
                                  size_t* old_size, void* new_value,
                                  size_t new_size) noexcept;
}

namespace footprint {
namespace {

template <typename T>
bool ReadControl(const char* name, T* value) {
  if (mallctl == nullptr) return false;
  size_t size = sizeof(T);
  return mallctl(name, value, &size, nullptr, 0) == 0;
}

int64_t ReadCounter(const char* name) {
  size_t bytes = 0;
  return ReadControl(name, &bytes) ? static_cast<int64_t>(bytes) : 0;
}

}  // namespace

bool IsJemalloc() {
  bool has_statistics = false;
  return ReadControl("config.stats", &has_statistics) && has_statistics;
}

void WriteAllocatorName(char* name, size_t capacity) {
  const char* version = nullptr;
  if (ReadControl("version", &version)) {
    std::snprintf(name, capacity, "jemalloc %s", version);
  } else {
    std::snprintf(name, capacity, "unknown");
  }
}

ThreadHeapBytes ReadThreadHeapBytes() {
  const ThreadHeapCounters counters = FindThreadHeapCounters();
  if (counters.allocated_bytes == nullptr) return {};
  return {*counters.allocated_bytes, *counters.deallocated_bytes};
}

ThreadHeapCounters FindThreadHeapCounters() {
  uint64_t* allocated = nullptr;
  uint64_t* deallocated = nullptr;
  if (!ReadControl("thread.allocatedp", &allocated) ||
      !ReadControl("thread.deallocatedp", &deallocated)) {
    return {};
  }
  return {allocated, deallocated};
}

AllocatorBytes ReadAllocatorBytes() {
  AllocatorBytes bytes;
  if (mallctl == nullptr) return bytes;
  // jemalloc's statistics do not change until the epoch is advanced.
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  bytes.allocated_bytes = ReadCounter("stats.allocated");
  bytes.active_bytes = ReadCounter("stats.active");
  bytes.resident_bytes = ReadCounter("stats.resident");
  bytes.mapped_bytes = ReadCounter("stats.mapped");
  return bytes;
}

const char* BuiltInAllocatorOptions() {
  const char* options = nullptr;
  return ReadControl("config.malloc_conf", &options) ? options : nullptr;
}

bool PurgeFreeMemory() {
  if (mallctl == nullptr) return false;
  // The calling thread's cache holds free blocks that no arena can purge.
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  // 4096 is MALLCTL_ARENAS_ALL, jemalloc's stable name for "every arena".
  return mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0) == 0;
}

}  // namespace footprint

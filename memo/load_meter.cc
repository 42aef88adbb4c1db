#include "footprint/memo/load_meter.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "footprint/profiling/allocator.h"

// Weak, so that the library links without jemalloc.
extern "C" {
__attribute__((weak)) int mallctl(const char* name, void* old_value,
                                  size_t* old_size, void* new_value,
                                  size_t new_size) noexcept;
}

namespace footprint::memo_internal {
namespace {

std::atomic<int64_t> running_meters{0};
std::atomic<uint64_t> started_meters{0};

// -1 if it cannot be known.
int64_t ProcessLiveBytes() {
  if (mallctl == nullptr) return -1;
  // jemalloc takes its statistics anew when the epoch is set.
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  if (mallctl("epoch", &epoch, &size, &epoch, sizeof(epoch)) != 0) return -1;
  size_t bytes = 0;
  size = sizeof(bytes);
  if (mallctl("stats.allocated", &bytes, &size, nullptr, 0) != 0) return -1;
  return static_cast<int64_t>(bytes);
}

// jemalloc counts what its threads' caches hold as allocated.
int64_t Tolerance(int64_t bytes) {
  return std::max<int64_t>(int64_t{1} << 20, std::abs(bytes) / 16);
}

}  // namespace

int64_t ThreadLiveBytes() { return ReadThreadHeapBytes().live_bytes(); }

LoadMeter::LoadMeter() {
  was_alone_ = running_meters.fetch_add(1) == 0;
  meter_number_ = started_meters.fetch_add(1) + 1;
  process_bytes_ = was_alone_ ? ProcessLiveBytes() : -1;
  thread_bytes_ = ThreadLiveBytes();
}

LoadMeter::~LoadMeter() {
  if (is_running_) running_meters.fetch_sub(1);
}

LoadedBytes LoadMeter::Stop(int64_t excluded_bytes) {
  LoadedBytes loaded;
  loaded.bytes = ThreadLiveBytes() - thread_bytes_ - excluded_bytes;
  loaded.is_measured = IsJemalloc();
  is_running_ = false;
  running_meters.fetch_sub(1);
  const bool was_alone = was_alone_ && started_meters.load() == meter_number_;
  if (!loaded.is_measured || !was_alone || process_bytes_ < 0) return loaded;
  loaded.process_bytes = ProcessLiveBytes() - process_bytes_ - excluded_bytes;
  loaded.cross_check =
      std::abs(loaded.process_bytes - loaded.bytes) <= Tolerance(loaded.bytes)
          ? CrossCheck::kAgrees
          : CrossCheck::kDiffers;
  return loaded;
}

}  // namespace footprint::memo_internal

#include "footprint/memo/load_meter.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "footprint/profiling/allocator.h"

namespace footprint::memo_internal {
namespace {

std::atomic<int64_t> running_meters{0};
std::atomic<uint64_t> started_meters{0};

int64_t ProcessLiveBytes() { return ReadAllocatorBytes().allocated_bytes; }

// jemalloc counts what its threads' caches hold as allocated.
int64_t Tolerance(int64_t bytes) {
  return std::max<int64_t>(int64_t{1} << 20, std::abs(bytes) / 16);
}

}  // namespace

int64_t ThreadLiveBytes() { return ReadThreadHeapBytes().live_bytes(); }

LoadMeter::LoadMeter() {
  // In this order: whoever is counted as running has a number already.
  meter_number_ = started_meters.fetch_add(1) + 1;
  was_alone_ = running_meters.fetch_add(1) == 0;
  if (was_alone_) process_bytes_ = ProcessLiveBytes();
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
  const bool is_alone = running_meters.fetch_sub(1) == 1;
  const bool was_alone =
      was_alone_ && is_alone && started_meters.load() == meter_number_;
  if (!loaded.is_measured || !was_alone) return loaded;
  loaded.process_bytes = ProcessLiveBytes() - process_bytes_ - excluded_bytes;
  loaded.cross_check =
      std::abs(loaded.process_bytes - loaded.bytes) <= Tolerance(loaded.bytes)
          ? CrossCheck::kAgrees
          : CrossCheck::kDiffers;
  return loaded;
}

}  // namespace footprint::memo_internal

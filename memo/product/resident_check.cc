#include "footprint/memo/product/resident_check.h"

#include <algorithm>
#include <limits>

#include "footprint/base/memory/allocator.h"
#include "footprint/base/memory/resident_bytes.h"

namespace footprint::memo_internal {
namespace {

// An allowance for stacks, Google Benchmark's rows and the allocator's tables.
constexpr int64_t kAllowanceBytes = 4 << 20;

// clang tells of its sanitizers by __has_feature alone, gcc by macros.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif

// A sanitizer's own memory is several times the program's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kHasShadow = true;
#else
constexpr bool kHasShadow = false;
#endif

}  // namespace

void ResidentCheck::Begin(int64_t budget_bytes, int64_t loaded_bytes) {
  if (kHasShadow) return;
  PurgeFreeMemory();
  const ResidentBytes resident = ReadResidentBytes();
  base_bytes_ = resident.now_bytes - loaded_bytes;
  mark_bytes_ = resident.peak_bytes;
  highest_bytes_ = 0;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t spare = budget_bytes / 50 + kAllowanceBytes;
  allowed_bytes_ = budget_bytes > kMost - spare ? kMost : budget_bytes + spare;
}

int64_t ResidentCheck::FindHighest() {
  if (allowed_bytes_ < 0) return 0;
  ResidentBytes resident = ReadResidentBytes();
  int64_t bytes =
      resident.peak_bytes > mark_bytes_ ? resident.peak_bytes - base_bytes_ : 0;
  mark_bytes_ = std::max(mark_bytes_, resident.peak_bytes);
  // Pages that the allocator could return do not count.
  if (resident.now_bytes - base_bytes_ > allowed_bytes_) {
    PurgeFreeMemory();
    resident = ReadResidentBytes();
    bytes = std::max(bytes, resident.now_bytes - base_bytes_);
  }
  if (bytes <= allowed_bytes_ ||
      bytes <= highest_bytes_ + highest_bytes_ / 50) {
    return 0;
  }
  highest_bytes_ = bytes;
  return bytes;
}

}  // namespace footprint::memo_internal

#include "footprint/profiling/sites/owned_ranges.h"

#include <cstring>

#include "footprint/profiling/sites/system_pages.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kFirstArrayBytes = 4096;

}  // namespace

size_t OwnedRanges::FirstEndingAfter(uintptr_t address) const {
  return static_cast<size_t>(
      std::upper_bound(ranges_, ranges_ + count_, address,
                       [](uintptr_t wanted, const Range& range) {
                         return wanted < range.end;
                       }) -
      ranges_);
}

bool OwnedRanges::ReserveOne() {
  if (count_ < array_bytes_ / sizeof(Range)) return true;
  const size_t new_bytes = std::max(kFirstArrayBytes, 2 * array_bytes_);
  auto* const grown = static_cast<Range*>(TakePages(new_bytes));
  if (grown == nullptr) return false;
  if (ranges_ != nullptr) std::memcpy(grown, ranges_, count_ * sizeof(Range));
  GivePagesBack(ranges_, array_bytes_);
  ranges_ = grown;
  array_bytes_ = new_bytes;
  return true;
}

void OwnedRanges::Insert(size_t index, Range range) {
  std::memmove(ranges_ + index + 1, ranges_ + index,
               (count_ - index) * sizeof(Range));
  ranges_[index] = range;
  ++count_;
}

void OwnedRanges::Erase(size_t index) {
  std::memmove(ranges_ + index, ranges_ + index + 1,
               (count_ - index - 1) * sizeof(Range));
  --count_;
}

void OwnedRanges::InsertMerged(Range range) {
  size_t index = FirstEndingAfter(range.begin);
  if (index < count_ && ranges_[index].begin == range.end &&
      ranges_[index].owner == range.owner) {
    range.end = ranges_[index].end;
    Erase(index);
  }
  if (index > 0 && ranges_[index - 1].end == range.begin &&
      ranges_[index - 1].owner == range.owner) {
    range.begin = ranges_[--index].begin;
    Erase(index);
  }
  Insert(index, range);
}

int64_t OwnedRanges::GiveAllTo(uint32_t owner) {
  int64_t sum_bytes = 0;
  for (size_t i = 0; i < count_; ++i) {
    ranges_[i].owner = owner;
    sum_bytes += static_cast<int64_t>(ranges_[i].end - ranges_[i].begin);
  }
  return sum_bytes;
}

void OwnedRanges::Clear() {
  GivePagesBack(ranges_, array_bytes_);
  ranges_ = nullptr;
  count_ = 0;
  array_bytes_ = 0;
}

}  // namespace footprint::profiling_internal

#include "footprint/profiling/heap/mapped_ranges.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "footprint/profiling/heap/system_mmap.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kFirstCapacityBytes = 4096;

}  // namespace

size_t MappedRanges::FirstEndingAtOrAfter(uintptr_t address) const {
  return std::lower_bound(ranges_, ranges_ + count_, address,
                          [](const Range& range, uintptr_t wanted) {
                            return range.end < wanted;
                          }) -
         ranges_;
}

void MappedRanges::Grow() {
  const size_t old_bytes = capacity_ * sizeof(Range);
  const size_t new_bytes = std::max(kFirstCapacityBytes, 2 * old_bytes);
  void* grown = SystemMmap(nullptr, new_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (grown == MAP_FAILED) std::abort();
  if (ranges_ != nullptr) {
    std::memcpy(grown, ranges_, count_ * sizeof(Range));
    syscall(SYS_munmap, ranges_, old_bytes);
  }
  ranges_ = static_cast<Range*>(grown);
  capacity_ = new_bytes / sizeof(Range);
}

void MappedRanges::Insert(size_t index, Range range) {
  if (count_ == capacity_) Grow();
  std::memmove(ranges_ + index + 1, ranges_ + index,
               (count_ - index) * sizeof(Range));
  ranges_[index] = range;
  ++count_;
}

void MappedRanges::Erase(size_t first, size_t last) {
  if (first == last) return;  // Also keeps memmove from a null array.
  std::memmove(ranges_ + first, ranges_ + last,
               (count_ - last) * sizeof(Range));
  count_ -= last - first;
}

int64_t MappedRanges::Add(uintptr_t begin, size_t size_bytes) {
  if (size_bytes == 0) return 0;
  Range merged = {begin, begin + size_bytes};
  const size_t first = FirstEndingAtOrAfter(begin);
  int64_t known_bytes = 0;
  size_t last = first;
  for (; last < count_ && ranges_[last].begin <= begin + size_bytes; ++last) {
    known_bytes +=
        static_cast<int64_t>(std::min(ranges_[last].end, begin + size_bytes) -
                             std::max(ranges_[last].begin, begin));
    merged.begin = std::min(merged.begin, ranges_[last].begin);
    merged.end = std::max(merged.end, ranges_[last].end);
  }
  Erase(first, last);
  Insert(first, merged);
  return static_cast<int64_t>(size_bytes) - known_bytes;
}

int64_t MappedRanges::Remove(uintptr_t begin, size_t size_bytes) {
  const uintptr_t end = begin + size_bytes;
  int64_t removed_bytes = 0;
  size_t index = FirstEndingAtOrAfter(begin);
  while (index < count_ && ranges_[index].begin < end) {
    const Range range = ranges_[index];
    const Range hit = {std::max(range.begin, begin), std::min(range.end, end)};
    if (hit.end <= hit.begin) {
      ++index;
      continue;
    }
    removed_bytes += static_cast<int64_t>(hit.end - hit.begin);
    Erase(index, index + 1);
    if (hit.end < range.end) Insert(index, {hit.end, range.end});
    if (range.begin < hit.begin) Insert(index++, {range.begin, hit.begin});
    if (hit.end < range.end) break;
  }
  return removed_bytes;
}

}  // namespace footprint::profiling_internal

// The set of address ranges that a program mapped. It adds and removes ranges
// that may overlap in any way, and returns by how many bytes the set changed.
//
//   MappedRanges ranges;
//   ranges.Add(0x1000, 0x3000);     // 0x3000: all of it is new
//   ranges.Remove(0x2000, 0x1000);  // 0x1000: what was in the set
//
// Thread-compatible. It works inside mmap, so it keeps its array in pages from
// the kernel. It has no destructor: only when the array grows are the old pages
// returned. The process aborts if the kernel has no memory. Memory: 16 to 32
// bytes a range, and at least 4 KiB. Time: a logarithmic search, and a linear
// move of the array for each range that is inserted or removed.

#ifndef FOOTPRINT_PROFILING_HEAP_MAPPED_RANGES_H_
#define FOOTPRINT_PROFILING_HEAP_MAPPED_RANGES_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

class MappedRanges {
 public:
  struct Range {
    uintptr_t begin;
    uintptr_t end;
  };

  // Adds a range. Returns the number of bytes that were not in the set before.
  int64_t Add(uintptr_t begin, size_t size_bytes);
  // Removes a range. Returns the number of bytes that were in the set.
  int64_t Remove(uintptr_t begin, size_t size_bytes);

  size_t range_count() const { return count_; }
  // Returns the range at `index`, in order of address. Ranges never touch.
  const Range& range(size_t index) const { return ranges_[index]; }

 private:
  // Index of the first range that ends at or after `address`.
  size_t FirstEndingAtOrAfter(uintptr_t address) const;
  void Insert(size_t index, Range range);
  void Erase(size_t first, size_t last);
  void Grow();

  Range* ranges_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_MAPPED_RANGES_H_

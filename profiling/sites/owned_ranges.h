// The address ranges of a program's mappings, each with the number of its
// owner. A new range takes its addresses from whoever owned them before.
//
//   OwnedRanges ranges;
//   const auto changed = [&](uint32_t owner, int64_t bytes) { ... };
//   ranges.Assign(0x1000, 0x3000, /*owner=*/7, changed);  // changed(7, 0x3000)
//   ranges.Remove(0x2000, 0x1000, changed);              // changed(7, -0x1000)
//
// Thread-compatible. Works inside mmap: its array is in pages from the kernel,
// which Clear returns. Memory: 24 to 48 bytes a range. Time: a logarithmic
// search, and a move of the ranges at lower addresses for each range that is
// inserted or removed.

#ifndef FOOTPRINT_PROFILING_SITES_OWNED_RANGES_H_
#define FOOTPRINT_PROFILING_SITES_OWNED_RANGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

class OwnedRanges {
 public:
  // Gives the range to the owner. Calls changed(owner, bytes) for each part
  // that another owner loses, and for what the new one gets. Returns false if
  // the kernel has no memory; then the range has no owner.
  template <typename Changed>
  bool Assign(uintptr_t begin, size_t size_bytes, uint32_t owner,
              Changed changed) {
    if (size_bytes == 0) return true;
    if (!Remove(begin, size_bytes, changed) || !ReserveOne()) return false;
    const uintptr_t mirrored = Mirror(begin, size_bytes);
    InsertMerged({mirrored, mirrored + size_bytes, owner});
    changed(owner, static_cast<int64_t>(size_bytes));
    return true;
  }

  // Takes the range from its owners. Calls changed(owner, -bytes) for each
  // part. Returns false, and changes nothing, if the kernel has no memory.
  template <typename Changed>
  bool Remove(uintptr_t begin, size_t size_bytes, Changed changed) {
    if (size_bytes == 0) return true;
    // A range that is cut in its middle leaves one more.
    if (!ReserveOne()) return false;
    const uintptr_t first = Mirror(begin, size_bytes);
    const uintptr_t end = first + size_bytes;
    size_t index = FirstEndingAfter(first);
    while (index < count_ && ranges_[index].begin < end) {
      const Range range = ranges_[index];
      const Range cut = {std::max(range.begin, first), std::min(range.end, end),
                         range.owner};
      Erase(index);
      if (range.begin < cut.begin) {
        Insert(index++, {range.begin, cut.begin, range.owner});
      }
      if (cut.end < range.end) Insert(index, {cut.end, range.end, range.owner});
      changed(range.owner, -static_cast<int64_t>(cut.end - cut.begin));
    }
    return true;
  }

  // Gives all ranges to one owner. Returns their bytes.
  int64_t GiveAllTo(uint32_t owner);

  // Forgets all ranges and returns the memory to the kernel.
  void Clear();

 private:
  // Addresses are mirrored: the kernel gives a new mapping a lower address than
  // older ones, so its range comes last, and no other has to move.
  struct Range {
    uintptr_t begin;
    uintptr_t end;
    uint32_t owner;
  };

  // Returns where a range begins after the address space is mirrored.
  static uintptr_t Mirror(uintptr_t begin, size_t size_bytes) {
    constexpr uintptr_t kEndOfAddresses = uintptr_t{1} << 63;
    return kEndOfAddresses - begin - size_bytes;
  }

  size_t FirstEndingAfter(uintptr_t address) const;
  // Makes room for one more range. Returns false if the kernel has no memory.
  bool ReserveOne();
  void Insert(size_t index, Range range);
  // Inserts a range that overlaps no other. It becomes one with the ranges of
  // the same owner that it touches.
  void InsertMerged(Range range);
  void Erase(size_t index);

  Range* ranges_ = nullptr;
  size_t count_ = 0;
  size_t array_bytes_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_OWNED_RANGES_H_

// Finds the number of a thing by the thing's hash. The caller keeps the things
// and compares them.
//
//   NumberIndex index;
//   uint32_t number = index.Find(hash, [&](uint32_t n) { return a[n] == x; });
//   if (number == NumberIndex::kNone) index.Add(hash, number = NewNumber(x));
//
// Works inside malloc: its memory is the kernel's, 32 to 64 bytes a number.
// Numbers are positive. Thread-compatible. Time: one or two cache lines.

#ifndef FOOTPRINT_PROFILING_SITES_NUMBER_INDEX_H_
#define FOOTPRINT_PROFILING_SITES_NUMBER_INDEX_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/sites/system_pages.h"

namespace footprint::profiling_internal {

// Returns a hash of two values. Calls can be nested for things of more parts.
inline uint64_t HashPair(uint64_t a, uint64_t b) {
  uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
  return (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53;
}

class NumberIndex {
 public:
  static constexpr uint32_t kNone = 0;

  // Returns the number that was added with this hash and that `matches`
  // accepts; kNone if there is none.
  template <typename Matches>
  uint32_t Find(uint64_t hash, Matches matches) const {
    if (entries_ == nullptr) return kNone;
    for (size_t i = Home(hash);; i = (i + 1) & mask_) {
      if (entries_[i].number == kNone) return kNone;
      if (entries_[i].tag == static_cast<uint32_t>(hash) &&
          matches(entries_[i].number)) {
        return entries_[i].number;
      }
    }
  }

  // Returns false if the kernel has no memory.
  bool Add(uint64_t hash, uint32_t number) {
    if (entries_ == nullptr || count_ * 2 > mask_) {
      if (!Grow()) return false;
    }
    Put(hash, number);
    ++count_;
    return true;
  }

  void Clear() {
    GivePagesBack(entries_, (mask_ + 1) * sizeof(Entry));
    entries_ = nullptr;
    mask_ = 0;
    count_ = 0;
  }

 private:
  struct Entry {
    uint32_t number;
    uint32_t tag;
    uint64_t hash;
  };

  size_t Home(uint64_t hash) const { return (hash >> 20) & mask_; }

  void Put(uint64_t hash, uint32_t number) {
    size_t i = Home(hash);
    while (entries_[i].number != kNone) i = (i + 1) & mask_;
    entries_[i] = {number, static_cast<uint32_t>(hash), hash};
  }

  bool Grow() {
    const size_t capacity = entries_ == nullptr ? 1024 : (mask_ + 1) * 2;
    auto* const grown =
        static_cast<Entry*>(TakePages(capacity * sizeof(Entry)));
    if (grown == nullptr) return false;
    Entry* const old = entries_;
    const size_t old_capacity = old == nullptr ? 0 : mask_ + 1;
    entries_ = grown;
    mask_ = capacity - 1;
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].number != kNone) Put(old[i].hash, old[i].number);
    }
    GivePagesBack(old, old_capacity * sizeof(Entry));
    return true;
  }

  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  size_t count_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_NUMBER_INDEX_H_

// Chains of numbered entries that only grow, in front, without a lock: those of
// a hash table whose writers may be threads, signal handlers, or both.
//
//   std::atomic<uint32_t> first{kNoEntry};
//   const uint32_t before = first.load(std::memory_order_acquire);
//   uint32_t number = FindInChain(before, kNoEntry, matches, next);
//   if (number == kNoEntry) {
//     number = PushInFront(&first, before, NewEntry(), matches, next,
//     set_next);
//   }
//
// Entries are the caller's: `matches(i)` says whether entry i is the one that
// is looked for, `next(i)` which one follows it, `set_next(i, j)` makes j
// follow i. Thread-safe, and safe in signal handlers if those functions are. No
// memory.

#ifndef FOOTPRINT_PROFILING_SAMPLES_HASH_CHAIN_H_
#define FOOTPRINT_PROFILING_SAMPLES_HASH_CHAIN_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr uint32_t kNoEntry = 0;

// The entry of a chain that matches, from `first` to before `end`; kNoEntry if
// there is none.
template <typename Matches, typename Next>
uint32_t FindInChain(uint32_t first, uint32_t end, Matches matches, Next next) {
  for (uint32_t i = first; i != end && i != kNoEntry; i = next(i)) {
    if (matches(i)) return i;
  }
  return kNoEntry;
}

// Puts entry `number`, which is ready but for its `next`, in front of a chain
// that began with `first` when it was last searched. Another's, which came
// first, is returned instead if it matches.
template <typename Matches, typename Next, typename SetNext>
uint32_t PushInFront(std::atomic<uint32_t>* chain, uint32_t first,
                     uint32_t number, Matches matches, Next next,
                     SetNext set_next) {
  while (true) {
    set_next(number, first);
    const uint32_t searched = first;
    if (chain->compare_exchange_strong(first, number, std::memory_order_release,
                                       std::memory_order_acquire)) {
      return number;
    }
    const uint32_t known = FindInChain(first, searched, matches, next);
    if (known != kNoEntry) return known;
  }
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SAMPLES_HASH_CHAIN_H_

// Lock-free chains of numbered entries that only grow at the front: those of a
// hash table whose writers are threads, signal handlers, or both.
//
//   std::atomic<uint32_t> first{kNoEntry};
//   const uint32_t before = first.load(std::memory_order_acquire);
//   uint32_t number = FindInChain(before, kNoEntry, matches, next);
//   if (number == kNoEntry) {
//     number =
//         PushInFront(&first, before, NewEntry(), matches, next, set_next);
//   }
//
// The caller owns the entries: `matches(i)` returns whether entry i is the
// wanted one, `next(i)` returns its successor, and `set_next(i, j)` makes j the
// successor of i. Thread-safe, and safe in signal handlers if those functions
// are. Uses no memory.

#ifndef FOOTPRINT_PROFILING_SAMPLES_HASH_CHAIN_H_
#define FOOTPRINT_PROFILING_SAMPLES_HASH_CHAIN_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr uint32_t kNoEntry = 0;

// Returns the matching entry of a chain between `first` and `end`, which is not
// included; kNoEntry if there is none.
template <typename Matches, typename Next>
uint32_t FindInChain(uint32_t first, uint32_t end, Matches matches, Next next) {
  for (uint32_t i = first; i != end && i != kNoEntry; i = next(i)) {
    if (matches(i)) return i;
  }
  return kNoEntry;
}

// Puts entry `number`, which is complete except for its `next`, in front of a
// chain that began with `first` when it was last searched. If another thread's
// entry was added meanwhile and matches, it returns that entry instead, and
// `number` is in no chain.
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

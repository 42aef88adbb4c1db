// Checks whether the process has held more resident memory than a budget of
// planned values allows.
//
//   ResidentCheck check;
//   check.Begin(budget_bytes, loaded_bytes);
//   ...                                       // load a value, or run a cell
//   const int64_t excess_bytes = check.FindHighest();   // 0: within the budget
//
// The plan counts what values have allocated. Other memory is resident and part
// of no value: pages that are touched after the load, blocks of a factory's
// worker threads, a pool that values share, mapped files, and the benchmark's
// own memory.
//
// The high-water mark is the kernel's (VmHWM). It is never reset here, since
// other code may use it: below the mark that the process had before, only the
// resident set at the moment of a check counts.
//
// If GCC built it with AddressSanitizer or ThreadSanitizer it finds nothing,
// since a sanitizer's own memory is many times the program's.
//
// Not thread-safe: use one object, on the main thread. Memory: some words.
// Time: some 20 us per check. If a check would exceed the budget, it first
// returns free memory to the system.

#ifndef FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_
#define FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_

#include <cstdint>

namespace footprint::memo_internal {

class ResidentCheck {
 public:
  // Call this before the first load. `loaded_bytes` are the bytes of planned
  // values that are already loaded.
  void Begin(int64_t budget_bytes, int64_t loaded_bytes);

  // Returns the most bytes that were resident since the last call, beyond those
  // that were resident at Begin without the loaded values. Returns 0 unless
  // they exceed the budget by more than 2 % plus 4 MiB, and every earlier
  // result by more than 2 %. Returns 0 before Begin.
  int64_t FindHighest();

 private:
  int64_t allowed_bytes_ = -1;
  int64_t base_bytes_ = 0;
  int64_t mark_bytes_ = 0;
  int64_t highest_bytes_ = 0;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_

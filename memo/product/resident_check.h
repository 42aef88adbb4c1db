// Whether the process has held more resident memory than a budget of planned
// values allows.
//
//   ResidentCheck check;
//   check.Begin(budget_bytes, loaded_bytes);
//   ...                                       // load a value, or run a cell
//   const int64_t excess_bytes = check.FindHighest();   // 0: within the budget
//
// The plan counts what values have allocated. Pages that are touched after the
// load, blocks of a factory's worker threads, a pool that values share, mapped
// files and the benchmark's own memory are in no value, and in the resident
// set.
//
// The high-water mark is the kernel's (VmHWM), which is never reset here, since
// that would take it from others: below the mark that the process had before,
// only the resident set of the moment counts.
//
// Built with a sanitizer it sees nothing, since a sanitizer's own memory is
// many times the program's.
//
// Not thread-safe: one, on main's thread. Memory: some words. Time: some 20 us
// for each look; where it would exceed, free memory is given back to the system
// first.

#ifndef FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_
#define FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_

#include <cstdint>

namespace footprint::memo_internal {

class ResidentCheck {
 public:
  // Called before the first load. `loaded_bytes`: of planned values that are
  // there.
  void Begin(int64_t budget_bytes, int64_t loaded_bytes);

  // The most bytes that were resident since the last look, beyond those before
  // Begin, if they exceed the budget by more than 2 % and 4 MiB, and more than
  // any look before; else 0. Zero before Begin.
  int64_t FindHighest();

 private:
  int64_t allowed_bytes_ = -1;
  int64_t base_bytes_ = 0;
  int64_t mark_bytes_ = 0;
  int64_t highest_bytes_ = 0;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_RESIDENT_CHECK_H_

// Fits a run into the memory that its control groups and the machine leave
// free: chooses the backend of the weights, and limits the budget.
//
//   const RunMemory memory = RunMemory::Read();
//   const WeightBackend backend = memory.ChooseBackend(file_bytes);
//   absl::StatusOr<int64_t> budget =
//       memory.LimitBudget(chosen_bytes, least_bytes, /*is_chosen=*/true);
//
// A process that exceeds the memory is killed without an error. So a run that
// does not fit is refused before the first weight is read.
//
// Owns its text. Thread-safe: nothing changes after Read. Memory: a name.
// ResourceExhausted says what is free, what limits it, and the least that would
// be enough.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_RUN_MEMORY_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_RUN_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// Memory that the kernel counts in addition to a plan: stacks of workers, page
// tables, buffers of reads, and pages of the program that return.
inline constexpr int64_t kBesidePlanBytes = int64_t{1} << 20;

// Free memory differs by less than this between two runs in one group, because
// the program's pages that are charged to the group vary. An advised budget
// leaves this much out, so that the next run fits.
inline constexpr int64_t kUnsteadyBytes = int64_t{512} << 10;

class RunMemory {
 public:
  // Reads the free memory. If the kernel does not report it, nothing is
  // limited.
  static RunMemory Read();
  explicit RunMemory(absl::optional<AvailableMemory> free)
      : free_(std::move(free)) {}

  // Returns kPread if the file fits the page cache next to an ample budget,
  // else kDirect: pages that the kernel evicts before the next pass cost more
  // than direct reads.
  WeightBackend ChooseBackend(int64_t file_bytes) const;

  // Returns whether weights in the page cache are evicted before the next pass
  // needs them.
  bool Thrashes(WeightBackend backend, int64_t file_bytes,
                int64_t plan_bytes) const;

  // Returns the budget or, if it was chosen automatically, at most the free
  // memory without the `beside_bytes` that the run needs besides its plan.
  // Returns ResourceExhausted if it does not fit, or if that memory is below
  // `least_bytes`. All budgets are those of the plan alone, also the one that
  // an error advises.
  absl::StatusOr<int64_t> LimitBudget(int64_t budget_bytes, int64_t least_bytes,
                                      bool is_chosen,
                                      int64_t beside_bytes = 0) const;

  // Returns ResourceExhausted unless that many bytes are free. `what` begins
  // the error: "3 sequences".
  absl::Status CheckRoom(const std::string& what, int64_t bytes) const;

  // Returns "the machine" or "the control group /path", or "" if nothing limits
  // it.
  std::string limited_by() const {
    return free_.has_value() ? free_->limited_by : "";
  }

 private:
  // Returns the room for plans.
  int64_t room_bytes() const;

  absl::optional<AvailableMemory> free_;
};

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_RUN_MEMORY_H_

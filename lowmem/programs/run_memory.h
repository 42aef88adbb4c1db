// Fits a run into the memory that its control groups and the machine leave: the
// way of reading the weights, and the budget.
//
//   const RunMemory memory = RunMemory::Read();
//   const WeightBackend backend = memory.ChooseBackend(file_bytes);
//   absl::StatusOr<int64_t> budget =
//       memory.LimitBudget(chosen_bytes, least_bytes, /*is_chosen=*/true);
//
// A process that takes more than there is does not get an error but is killed,
// so what does not fit is refused before the first weight is read.
//
// Owns its text. Thread-safe: nothing changes after Read. Memory: a name.
// Errors: ResourceExhausted says what is free, by whom it is limited, and the
// least that would do.

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

// The kernel counts these beside a plan: stacks of workers, page tables,
// buffers of reads, and pages of the program that come back.
inline constexpr int64_t kBesidePlanBytes = int64_t{1} << 20;

// Free memory differs by less than this between two runs in one group, since it
// is chance which of the program's pages are charged to the group. An advised
// budget leaves so much out that the next run fits.
inline constexpr int64_t kUnsteadyBytes = int64_t{512} << 10;

class RunMemory {
 public:
  // Reads what there is; where the kernel tells nothing, nothing is limited.
  static RunMemory Read();
  explicit RunMemory(absl::optional<AvailableMemory> free)
      : free_(std::move(free)) {}

  // kPread where the file finds room in the page cache beside an ample budget,
  // else kDirect: pages that the kernel takes back before the next pass cost
  // more than reading past the cache.
  WeightBackend ChooseBackend(int64_t file_bytes) const;

  // Returns whether weights that are read through the page cache are gone
  // before the next pass needs them.
  bool Thrashes(WeightBackend backend, int64_t file_bytes,
                int64_t plan_bytes) const;

  // The budget, or if it is chosen, all that is free where that is less.
  // ResourceExhausted: it does not fit, or what is free is less than
  // `least_bytes`.
  absl::StatusOr<int64_t> LimitBudget(int64_t budget_bytes, int64_t least_bytes,
                                      bool is_chosen) const;

  // Returns whether so much is free. `what` begins the error: "3 sequences".
  absl::Status CheckRoom(const std::string& what, int64_t bytes) const;

  // "the machine" or "the control group /path".
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

// Requests and plans as comma-separated values.
//
//   id,lower,upper,size
//   activation,0,4,1024
//
//   absl::StatusOr<std::vector<TensorRequest>> requests =
//       ParseRequestsCsv(text, "network.csv");
//
// Pure and thread-safe; the caller reads and writes files. Memory and time:
// linear.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_CSV_H_
#define FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// The header names the columns id, lower, upper and size, in any order. There
// may also be alignment; offset, which is passed over, so that a plan can be
// planned again; and gaps, as minimalloc writes them ("3-5 7-9@0:64"): a tensor
// counts as live in its gaps, so that a plan is valid, but one that uses them
// may be lower than the bound. `tensors_with_gaps`, if given, becomes their
// number.
//
// A field may be quoted, a quotation mark in it doubled. Lines end in "\n" or
// "\r\n"; the last may lack it, blank ones may follow it, and a byte order mark
// may stand before the first. Each id occurs once.
//
// InvalidArgument "FILE:LINE:COLUMN: what and what was expected", also of a row
// that CheckRequests would refuse by itself; columns are counted in bytes from
// 1.
absl::StatusOr<std::vector<TensorRequest>> ParseRequestsCsv(
    absl::string_view text, absl::string_view file_name,
    int64_t* tensors_with_gaps = nullptr);

// The requests with an offset each: id,lower,upper,size,alignment,offset; ids
// are quoted where they must be. InvalidArgument: an id that the format cannot
// hold (empty, with a control character, or of an earlier tensor), or another
// number of offsets.
absl::StatusOr<std::string> PlanToCsv(absl::Span<const TensorRequest> requests,
                                      const MemoryPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_CSV_H_

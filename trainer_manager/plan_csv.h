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

#ifndef FOOTPRINT_TRAINER_MANAGER_PLAN_CSV_H_
#define FOOTPRINT_TRAINER_MANAGER_PLAN_CSV_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/plan.h"

namespace footprint {

// The header names the columns id, lower, upper and size, in any order; a
// fifth, alignment, may be among them, and a sixth, offset, is passed over, so
// that a plan can be planned again. Fields are not quoted. Lines end in "\n" or
// "\r\n"; the last may lack it. Each id occurs once.
//
// InvalidArgument "FILE:LINE:COLUMN: what and what was expected"; columns are
// counted in bytes from 1. What the figures mean is not judged here: see
// CheckRequests.
absl::StatusOr<std::vector<TensorRequest>> ParseRequestsCsv(
    absl::string_view text, absl::string_view file_name);

// The requests with an offset each: id,lower,upper,size,alignment,offset.
// InvalidArgument: an id that the format cannot hold (empty, with a comma, a
// quotation mark or a control character, or of an earlier tensor), or another
// number of offsets.
absl::StatusOr<std::string> PlanToCsv(absl::Span<const TensorRequest> requests,
                                      const MemoryPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLAN_CSV_H_

// Reads and writes requests and plans as comma-separated values.
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

// Returns the requests of a text. Its header names the columns id, lower, upper
// and size, in any order. Three more columns are allowed: alignment; offset,
// which is ignored, so that a plan can be planned again; and gaps in
// minimalloc's form ("3-5 7-9@0:64"). A tensor counts as live in its gaps, so
// the plan is valid, but a plan that uses gaps may be lower than the bound.
// `tensors_with_gaps`, if given, is set to their number.
//
// A field may be quoted, with quotation marks in it doubled. Lines end in "\n"
// or "\r\n". The last line may lack it, blank lines may follow, and the text
// may begin with a byte order mark. Each id must be unique.
//
// The message of InvalidArgument is "FILE:LINE:COLUMN: the mistake and what was
// expected", also for a row that CheckRequests refuses by itself. Whether all
// rows together fit 64 bits is not checked: call CheckRequests. Columns are
// counted in bytes from 1.
absl::StatusOr<std::vector<TensorRequest>> ParseRequestsCsv(
    absl::string_view text, absl::string_view file_name,
    int64_t* tensors_with_gaps = nullptr);

// Returns the requests, each with its offset:
// id,lower,upper,size,alignment,offset. Ids are quoted where necessary. Returns
// InvalidArgument if the format cannot hold an id (it is empty, has a control
// character, or is that of an earlier tensor), or if the number of offsets
// differs.
absl::StatusOr<std::string> PlanToCsv(absl::Span<const TensorRequest> requests,
                                      const MemoryPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_PLAN_CSV_H_

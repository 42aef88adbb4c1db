// Parses a trial's explanation from untrusted bytes. The process that wrote
// them has read a hostile program's records, and may be under its control.
//
//   absl::StatusOr<TrialExplanation> explanation = CheckedExplanation(bytes);
//
// The result is bounded (kMostExplanationBytes in all, kMostTextBytes for each
// text, 20 sites of the peak, 10,000 entries of any other field), its texts
// have no control characters, and it has only known fields. Its figures may be
// false, so they explain a decision but never make one.
//
// Pure function, thread-safe; the result owns copies. Memory: a few times the
// bytes. Errors: kInvalidArgument, with the fault.

#ifndef FOOTPRINT_GATES_TRIALS_CHECKED_EXPLANATION_H_
#define FOOTPRINT_GATES_TRIALS_CHECKED_EXPLANATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

inline constexpr int64_t kMostExplanationBytes = 4 << 20;
inline constexpr int64_t kMostTextBytes = 4096;

// Returns the explanation if it keeps all bounds.
absl::StatusOr<TrialExplanation> CheckedExplanation(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_CHECKED_EXPLANATION_H_

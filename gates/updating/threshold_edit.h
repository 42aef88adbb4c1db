// New numbers in the text of a threshold file; everything else stays as it is,
// byte for byte: comments, order, spacing, line ends.
//
//   ThresholdChange change;
//   change.threshold = 3;   // file.threshold(3)
//   change.limit = 4096;
//   absl::StatusOr<std::string> edited =
//       EditThresholds("t.textproto", text, {change});
//
// Pure functions, thread-safe; the result copies the text. Memory: about 2 KiB
// a threshold. Time: linear in the text, twice: the result is parsed again and
// compared with what was asked for.

#ifndef FOOTPRINT_GATES_UPDATING_THRESHOLD_EDIT_H_
#define FOOTPRINT_GATES_UPDATING_THRESHOLD_EDIT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// Fields that are set are changed. A number must be in the text already.
struct ThresholdChange {
  int threshold = 0;              // index in the file
  absl::optional<int64_t> limit;  // the maximum or the exact value
  absl::optional<int64_t> minimum;
  // The texts of `max` and `min` that mean these numbers, where the threshold
  // has them.
  std::string written_limit;
  std::string written_minimum;
  absl::optional<double> ratio;
  // The count; added if the text has none.
  absl::optional<int32_t> benchmark_count;
  // Appended to the threshold's history.
  absl::optional<HistoryEntry> history;
};

// kInvalidArgument if the text has a problem (threshold_file.h), or a change
// names a number that is not in it; kInternal if the result would not be what
// was asked for, which is a bug here.
absl::StatusOr<std::string> EditThresholds(
    absl::string_view path, absl::string_view text,
    const std::vector<ThresholdChange>& changes);

struct RecordedChanges {
  std::string text;
  // Thresholds that have a new entry, and those that were changed by hand and
  // have none, for people: "t.textproto:12: //a:b BM_X ...".
  std::vector<std::string> descriptions;
  std::vector<std::string> left;
};

// The text with an entry for each number that was changed by hand (or, where
// the file is recorded, has no history yet), and nothing else. Left out, with
// the words it gives: what `why_not` is not empty for. As EditThresholds, but
// the histories in `text` may lack these entries, and those in the result the
// ones that were left out.
absl::StatusOr<RecordedChanges> RecordChangesByHand(
    absl::string_view path, absl::string_view text, absl::string_view date,
    absl::string_view reason,
    const std::function<std::string(const Threshold&)>& why_not);

// Blocks at the end of the text, with its line ends.
std::string AppendThresholds(absl::string_view text,
                             const std::vector<Threshold>& thresholds);

// The text of a file with no threshold yet, whose histories are to be complete.
// Returns the text of a new file of thresholds. If it has no environment, its
// limits hold in each.
std::string NewThresholdText(const absl::optional<Environment>& environment);

// Returns whether `text` is one that thresholds may be added to, and has none:
// empty, or the lines that a threshold file begins with, or some of them.
bool IsThresholdFileWithoutRules(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_THRESHOLD_EDIT_H_

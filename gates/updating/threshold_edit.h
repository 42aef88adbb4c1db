// Writes new numbers into the text of a threshold file. All other bytes stay as
// they are: comments, order, spacing, line ends.
//
//   ThresholdChange change;
//   change.threshold = 3;   // file.threshold(3)
//   change.limit = 4096;
//   absl::StatusOr<std::string> edited =
//       EditThresholds("t.textproto", text, {change});
//
// Pure functions, thread-safe; the result copies the text. Memory: about 2 KiB
// a threshold. Time: linear in the text. The result is parsed again and
// compared with the requested changes.

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

// New values of one threshold. The fields without a value stay as they are; a
// limit, minimum or ratio must be in the text already.
struct ThresholdChange {
  int threshold = 0;              // index in the file
  absl::optional<int64_t> limit;  // the maximum or the exact value
  absl::optional<int64_t> minimum;
  // The texts of `max` and `min` that mean these numbers, if the threshold has
  // these fields.
  std::string written_limit;
  std::string written_minimum;
  absl::optional<double> ratio;
  // The new benchmark_count, which is added if the text has none.
  absl::optional<int32_t> benchmark_count;
  // The entry to append to the threshold's history.
  absl::optional<HistoryEntry> history;
};

// Returns the edited text. Returns kInvalidArgument if the text has a problem
// (threshold_file.h) or would have one afterwards, or if a change names a
// threshold or number that is not in it, and kInternal if the result differs
// from the requested changes, which is a bug here.
absl::StatusOr<std::string> EditThresholds(
    absl::string_view path, absl::string_view text,
    const std::vector<ThresholdChange>& changes);

struct RecordedChanges {
  std::string text;
  // Lines for people, such as "t.textproto:12: //a:b BM_X ...", for thresholds
  // that got a new entry, and (`left`) for those that were changed by hand and
  // got none.
  std::vector<std::string> descriptions;
  std::vector<std::string> left;
};

// Returns the text with an entry for each number that was changed by hand (or,
// if the file is recorded, has no history yet), and no other change. `date` is
// today ("2026-11-21"). Skips a threshold for which `why_not` returns a reason,
// and reports the reason in `left`. Fails as EditThresholds does, but the
// histories in `text` may lack these entries, and the result may lack the
// skipped ones.
absl::StatusOr<RecordedChanges> RecordChangesByHand(
    absl::string_view path, absl::string_view text, absl::string_view date,
    absl::string_view reason,
    const std::function<std::string(const Threshold&)>& why_not);

// Returns the text with the thresholds appended, with the line ends of the
// text.
std::string AppendThresholds(absl::string_view text,
                             const std::vector<Threshold>& thresholds);

// Returns the text of a new file without thresholds, whose histories must be
// complete (`recorded`). Without an environment, its limits hold in every
// environment.
std::string NewThresholdText(const absl::optional<Environment>& environment);

// Returns whether thresholds may be appended to a `text` that has none: it
// parses, and holds neither a threshold nor an exemption. It may be empty.
bool IsThresholdFileWithoutRules(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_THRESHOLD_EDIT_H_

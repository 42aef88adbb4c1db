// Checks that the history of a threshold explains its present limit.
//
//   for (const HistoryProblem& problem : CheckHistory(threshold, false)) ...
//   *threshold.add_history() = FirstEntry(threshold, "2026-11-21", "measured");
//
// A history is right if every entry has a reason, has a new value or new terms,
// and has a day of the calendar that is not before the day of the entry above
// it. Each old value must be the new value before it, and the last new values
// must be the threshold's. Limits, ratios and minima are three separate series
// of values. The severity of a rule and its other numbers are its terms: the
// last entry that states terms must state the present ones, and in a recorded
// file without such an entry they are "BLOCK". So a change by hand without an
// entry is found if the history states that number, or the terms, before; in a
// recorded file it always is. An entry does not expire before its own day. The
// functions read no clock, so a date in the future is accepted. The entries
// that follow one with a future date have the same date, until that day is
// past.
//
// Pure functions, thread-safe; the results own their texts. Memory and time:
// linear in the history.

#ifndef FOOTPRINT_GATES_JUDGE_LIMIT_HISTORY_H_
#define FOOTPRINT_GATES_JUDGE_LIMIT_HISTORY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct HistoryProblem {
  int entry = -1;  // index in threshold.history(); -1: the threshold
  std::string message;
};

// Returns the problems in the order of the entries. With `is_recorded`, every
// number of the threshold must have a history that begins with its first value.
// A maximum that awaits its figure is not compared.
std::vector<HistoryProblem> CheckHistory(const Threshold& threshold,
                                         bool is_recorded);

// Returns the first entry of a history, which records the present limits of
// `threshold`.
HistoryEntry FirstEntry(const Threshold& threshold, absl::string_view date,
                        absl::string_view reason);

// Returns the date of a new entry that is written on the day `today`: the last
// entry's date if that is later.
std::string DateOfNextEntry(const Threshold& threshold,
                            absl::string_view today);

// Returns a part of a message if the date of `entry` is not `today`: ", dated
// 2099-01-01, as the entry above it"; else "".
std::string DescribeOtherDate(const HistoryEntry& entry,
                              absl::string_view today);

// Returns the entry that a history lacks after a change by hand, so that it
// ends with the threshold's numbers; nullopt if it lacks none. Its date is
// DateOfNextEntry of `date`.
absl::optional<HistoryEntry> MissingEntry(const Threshold& threshold,
                                          bool is_recorded,
                                          absl::string_view date,
                                          absl::string_view reason);

// Returns whether `text` has a visible character. White space, also that of
// Unicode, control characters and the like are not visible.
bool IsReason(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_LIMIT_HISTORY_H_

// Checks that the history of a threshold explains its present limit.
//
//   for (const HistoryProblem& problem : CheckHistory(threshold, false)) ...
//   *threshold.add_history() = FirstEntry(threshold, "2026-11-21", "measured");
//
// A history is right if every entry has a day of the calendar, none before the
// one above it, a reason and a new value; each old value is the new value
// before it; and the last new values are the threshold's. A limit, a ratio and
// a minimum have their values apart from each other. The severity of a rule and
// its other numbers are its terms: the last entry that states any must say the
// same; without one they are "BLOCK". So a number that is changed by hand
// without an entry is seen, if the threshold has a history. The day on which an
// entry expires is not before its own. No clock is asked: a day to come is as
// good as another. The entries that follow one of a day to come have its date,
// until that day is past.
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
  int entry = -1;  // in threshold.history(); -1: of the threshold itself
  std::string message;
};

// Returns the problems in the order of the entries. `is_recorded`: every number
// of the threshold must have a history.
std::vector<HistoryProblem> CheckHistory(const Threshold& threshold,
                                         bool is_recorded);

// The entry that the limits of `threshold` begin with.
HistoryEntry FirstEntry(const Threshold& threshold, absl::string_view date,
                        absl::string_view reason);

// The day of a new entry that is written on the day `today`: that of the last
// entry if it is later.
std::string DateOfNextEntry(const Threshold& threshold,
                            absl::string_view today);

// Returns a part of a message where `entry` is not of `today`: ", dated
// 2099-01-01, as the entry above it"; else "".
std::string DescribeOtherDate(const HistoryEntry& entry,
                              absl::string_view today);

// The entry without which a history does not end with the threshold's numbers,
// or nullopt: what was changed by hand. Its day is DateOfNextEntry of `date`.
absl::optional<HistoryEntry> MissingEntry(const Threshold& threshold,
                                          bool is_recorded,
                                          absl::string_view date,
                                          absl::string_view reason);

// Returns false if `text` is empty or holds only what shows nothing: white
// space, also that of Unicode, and control characters.
bool IsReason(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_LIMIT_HISTORY_H_

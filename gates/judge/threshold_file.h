// Parses a threshold file (textproto, gate.proto's ThresholdFile), with the
// location of every threshold, and reports every mistake in it.
//
//   ThresholdSource source = ParseThresholdFile("x.textproto", text);
//   if (!source.problems.empty()) ...  // each says file:line:column and why
//
// The text may begin with the two comments that tell editors and other tools
// its schema. The schema may begin with "footprint/". Any other proto-file or
// proto-message is refused:
//
//   # proto-file: gates/judge/gate.proto
//   # proto-message: footprint.ThresholdFile
//
// A byte-order mark and CRLF line ends are accepted. Fields that this version
// does not know, senseless numbers and contradictory rules are problems, never
// ignored. The numbers that written limits mean are set in their number fields
// (written_limit.h).
//
// Pure functions, thread-safe; the result owns copies. Memory: about 2 KiB a
// threshold while parsing, the messages after. Time: linear in the text.

#ifndef FOOTPRINT_GATES_JUDGE_THRESHOLD_FILE_H_
#define FOOTPRINT_GATES_JUDGE_THRESHOLD_FILE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "google/protobuf/text_format.h"

namespace footprint {

inline constexpr int kThresholdSchemaVersion = 1;

struct ThresholdSource {
  std::string path;  // as messages show it
  ThresholdFile file;
  // The line of each file.threshold(i), counted from 1. Lines may be missing if
  // there are problems.
  std::vector<int> lines;
  // The line of each file.exemption(i), counted from 1.
  std::vector<int> exemption_lines;
  // The BAD_CONFIGURATION problems in the order of the text. If there is any,
  // `file` holds only what could be read, and must not be used to judge.
  std::vector<Problem> problems;

  // Returns "gates/thresholds/tabular.textproto:12".
  std::string DescribeLocation(int threshold) const;
  std::string LocationOfExemption(int exemption) const;
};

// Parses and checks the text of a threshold file. `path` is for messages only.
ThresholdSource ParseThresholdFile(absl::string_view path,
                                   absl::string_view text);

// Does the same, and sets `locations` to the place of each field: lines and
// columns from 0, after a byte-order mark, with tab stops at multiples of 8. A
// program that repairs histories sets `is_history_checked` to false.
ThresholdSource ParseThresholdFile(
    absl::string_view path, absl::string_view text,
    google::protobuf::TextFormat::ParseInfoTree* locations,
    bool is_history_checked = true);

// Returns whether the comments at the start of a text have both lines that mark
// a threshold file.
bool IsMarkedAsThresholds(absl::string_view text);

// Returns the length of the byte-order mark at the start of `text`: 3 or 0.
int ByteOrderMarkLength(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_THRESHOLD_FILE_H_

// A threshold file (textproto, gate.proto's ThresholdFile) from its text, with
// the location of every threshold, or with everything that is wrong with it.
//
//   ThresholdSource source = ParseThresholdFile("x.textproto", text);
//   if (!source.problems.empty()) ...  // each says file:line:column and why
//
// The text may begin with the two comments that tell editors and other tools
// what it is. A proto-file or proto-message other than these is refused:
//
//   # proto-file: gates/judge/gate.proto
//   # proto-message: footprint.ThresholdFile
//
// A byte-order mark and CRLF line ends are accepted. Fields that this version
// does not know, numbers without sense and rules that contradict each other are
// problems, never passed over. The numbers that written limits mean are set
// beside them (written_limit.h).
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
  std::string path;  // as it is to appear in messages
  ThresholdFile file;
  // The lines of file.threshold(i), counted from 1.
  std::vector<int> lines;
  // The lines of file.exemption(i).
  std::vector<int> exemption_lines;
  // BAD_CONFIGURATION, in the order of the text. If there is any, `file` holds
  // what could be read and must not be judged by.
  std::vector<Problem> problems;

  // "gates/thresholds/tabular.textproto:12".
  std::string DescribeLocation(int threshold) const;
  std::string LocationOfExemption(int exemption) const;
};

ThresholdSource ParseThresholdFile(absl::string_view path,
                                   absl::string_view text);

// The same, and where each field stands: lines and columns from 0, with tabs up
// to the next multiple of 8, of the text after a byte-order mark. Whoever fixes
// a history reads it unchecked.
ThresholdSource ParseThresholdFile(
    absl::string_view path, absl::string_view text,
    google::protobuf::TextFormat::ParseInfoTree* locations,
    bool is_history_checked = true);

// Returns whether a text begins with the two lines that mark a threshold file.
bool IsMarkedAsThresholds(absl::string_view text);

// Length of the byte-order mark that `text` begins with: 3 or 0.
int ByteOrderMarkLength(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_THRESHOLD_FILE_H_

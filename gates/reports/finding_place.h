// Finds the place of a verdict's finding, for formats that point into files,
// and computes a key for it that survives edits of the file.
//
//   FindingPlace place = ParsePlace("gates/thresholds/memo.textproto:12");
//   place.path;  // "gates/thresholds/memo.textproto"
//   place.line;  // 12
//   StableKey(judgement);  // "3f9c0a5be1d27744"
//
// Pure functions, thread-safe; results own their texts.

#ifndef FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_
#define FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct FindingPlace {
  // Relative to the workspace; "" for a label or a benchmark, which is not a
  // file.
  std::string path;
  // The line and the column, from 1; 0 if unknown.
  int line = 0;
  int column = 0;
};

// Returns the place that "FILE:LINE", "FILE:LINE:COLUMN" or "FILE.textproto"
// names. Any other text names no file, also one with a line beyond the range of
// int.
FindingPlace ParsePlace(absl::string_view location);

// Returns 16 hexadecimal digits that stay the same for a finding if other lines
// of the file change. The key of a judgement stays the same if the measured
// value or the limit changes; that of a problem changes with its message.
std::string StableKey(const Judgement& judgement);
std::string StableKey(const Problem& problem);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_

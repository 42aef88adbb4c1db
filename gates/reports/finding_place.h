// The place of a verdict's finding, for formats that point into files, and a
// name for it that outlives an edit of the file.
//
//   FindingPlace place = ParsePlace("gates/thresholds/memo.textproto:12");
//   place.path;  // "gates/thresholds/memo.textproto"
//   place.line;  // 12
//   StableKey(judgement);  // "3f9c0a5be1d27744"
//
// Pure functions, thread-safe; results copy what they name, which is their
// memory.

#ifndef FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_
#define FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct FindingPlace {
  // Relative to the workspace; "" of a label or a benchmark, which is no file.
  std::string path;
  // The line and the column, from 1; 0: none is known.
  int line = 0;
  int column = 0;
};

// Returns the place that "FILE:LINE", "FILE:LINE:COLUMN" or "FILE.textproto"
// names. A line beyond int's range is no line.
FindingPlace ParsePlace(absl::string_view location);

// The same for one finding before and after other lines of the file, or the
// measured value, change: 16 hexadecimal digits.
std::string StableKey(const Judgement& judgement);
std::string StableKey(const Problem& problem);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_FINDING_PLACE_H_

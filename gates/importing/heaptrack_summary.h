// Parses the summary at the end of heaptrack_print's output.
//
//   heaptrack_print heaptrack.server.123.zst >server.txt
//
//   absl::StatusOr<ForeignFigures> figures = ParseHeaptrackSummary(text);
//
// Heaptrack counts the requested bytes of every call. It prints about three
// digits ("4.08M", in units of 1,000 x 1,000 bytes). The result is the largest
// number that is printed like that (4,085,000), so that a limit that holds for
// it held for the program.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the text.

#ifndef FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_
#define FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether the text is of heaptrack_print.
bool LooksLikeHeaptrack(absl::string_view text);

// Returns kDataLoss if the text ends before its summary does, and
// kInvalidArgument for a malformed figure.
absl::StatusOr<ForeignFigures> ParseHeaptrackSummary(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_

// heaptrack: the summary that heaptrack_print ends with.
//
//   heaptrack_print heaptrack.server.123.zst >server.txt
//
//   absl::StatusOr<ForeignFigures> figures = ParseHeaptrackSummary(text);
//
// Heaptrack counts the bytes that a program asked its allocator for, of every
// call. It prints three digits or so ("4.08M", of 1,000 x 1,000 bytes); the
// figure taken is the largest that is printed so (4,085,000), so that a limit
// that holds for it held for the program.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the text.

#ifndef FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_
#define FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether it is text that heaptrack_print wrote.
bool LooksLikeHeaptrack(absl::string_view text);

// kDataLoss: it ends before the summary does. kInvalidArgument: a figure that
// is none.
absl::StatusOr<ForeignFigures> ParseHeaptrackSummary(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_HEAPTRACK_SUMMARY_H_

// Reads the highest snapshot from a file of valgrind's massif.
//
//   absl::StatusOr<ForeignFigures> figures = ParseMassifFile(text);
//
// Massif counts requested bytes or, with --pages-as-heap=yes, the bytes of
// pages. It keeps some dozens of snapshots and one at the peak, which may be up
// to --peak-inaccuracy (1 %) below the true peak.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the file.

#ifndef FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_
#define FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether the first line is that of a massif file.
bool LooksLikeMassif(absl::string_view text);

// Returns kDataLoss if the file is cut short, and kInvalidArgument, with the
// line, for another format. A file that ends between two snapshots looks
// complete.
absl::StatusOr<ForeignFigures> ParseMassifFile(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_

// Reads the highest snapshot from a file of valgrind's massif.
//
//   absl::StatusOr<ForeignFigures> figures = ParseMassifFile(text);
//
// Massif counts the bytes that a program asked its allocator for, or, with
// --pages-as-heap=yes, the bytes of its pages. It keeps some tens of snapshots
// and one at the peak, which may be up to --peak-inaccuracy (1 %) below the
// true peak.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the file.

#ifndef FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_
#define FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether the first line is a massif file's.
bool LooksLikeMassif(absl::string_view text);

// kDataLoss: cut short. kInvalidArgument, with the line: another format. A file
// that ends between two snapshots cannot be told from a whole one.
absl::StatusOr<ForeignFigures> ParseMassifFile(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_MASSIF_FILE_H_

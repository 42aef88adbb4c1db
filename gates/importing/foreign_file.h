// A file of another tool, whichever it is.
//
//   absl::StatusOr<ForeignFigures> figures = ParseForeignFile(bytes);
//   if (!figures.ok()) Complain(path + ": " + figures.status().message());
//
// Formats are told apart by how a file begins: massif, heaptrack_print's text,
// Google Benchmark's JSON, pprof's gzipped profiles, gperftools' and jemalloc's
// text.
//
// Pure function, thread-safe; the result owns its text. Memory and time: as of
// the format's header.

#ifndef FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_
#define FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// kInvalidArgument: empty, or none of these formats; kResourceExhausted: of
// more than 1 GiB; the others as the format's header says.
absl::StatusOr<ForeignFigures> ParseForeignFile(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_

// Parses a file of another tool in any supported format.
//
//   absl::StatusOr<ForeignFigures> figures = ParseForeignFile(bytes);
//   if (!figures.ok()) Complain(path + ": " + figures.status().message());
//
// The beginning of a file determines its format: massif, heaptrack_print's
// text, Google Benchmark's JSON, pprof's gzipped profiles, gperftools' and
// jemalloc's text.
//
// Pure function, thread-safe; the result owns its text. Memory and time: those
// in the format's header.

#ifndef FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_
#define FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns kInvalidArgument for an empty file or another format,
// kResourceExhausted for more than 1 GiB, and the errors in the format's
// header.
absl::StatusOr<ForeignFigures> ParseForeignFile(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_FOREIGN_FILE_H_

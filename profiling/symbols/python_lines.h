// Finds the line of an instruction of Python code in the code object's line
// table (co_linetable).
//
//   int line = FindPythonLine(line_table, first_line, /*instruction=*/7);
//
// The format is that of CPython 3.11 to 3.14: a sequence of entries, each for
// one to eight code units. Source: locations.md in CPython's folder Objects.
//
// Pure, thread-safe: the table is only read. Allocates nothing. Time: linear in
// the table.

#ifndef FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_
#define FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_

#include "absl/strings/string_view.h"

namespace footprint {

// `instruction` is counted in code units of two bytes; -1, before the first,
// lies in the first line. Returns 0 if the instruction has no line, or if the
// table is damaged or ends before it.
int FindPythonLine(absl::string_view line_table, int first_line,
                   int instruction);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_

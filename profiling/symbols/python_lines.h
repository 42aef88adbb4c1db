// Lines of Python code: from an instruction of a code object to its line, by
// the code object's line table (co_linetable).
//
//   int line = FindPythonLine(line_table, first_line, /*instruction=*/7);
//
// The form is that of CPython 3.11 to 3.14: a run of entries, each for one to
// eight code units. Source: CPython, locations.md in its folder of objects.
//
// Pure, thread-safe: the table is only read. Allocates nothing. Time: linear in
// the table.

#ifndef FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_
#define FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_

#include "absl/strings/string_view.h"

namespace footprint {

// `instruction` is counted in code units of two bytes; -1, before the first,
// lies in the first line. 0: the instruction has no line, or the table is
// damaged or ends before it.
int FindPythonLine(absl::string_view line_table, int first_line,
                   int instruction);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SYMBOLS_PYTHON_LINES_H_

// The bytes of a process by the lines of the program's own code.
//
//   for (const OwnLine& line : FindOwnLines(run, image)) {
//     line.frame.line();        // 12, of train.py
//     line.called.function();   // "numpy.zeros"
//     line.at_peak.bytes();     // what that line holds at the peak
//   }
//
// Each block counts at the innermost line of the stack that is the program's
// own: for Python the script and what lies beside it, for native code what has
// debug information outside of the folders of the system and of Bazel's
// external repositories, and the executable's functions where it has none.
// Which code is the program's own is said in code_owner.h. A block that no such
// line asked for is in no row, so the rows add up to at most the peak.
//
// A program that has no code of its own on its stacks (a tool that is
// installed) gives no rows: site_rows.h has the places in any code.
//
// Pure; thread-safe. Memory: 16 bytes a call, and the rows. Time: linear in
// frames, calls and sites.

#ifndef FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_
#define FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_

#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

struct OwnLine {
  CodeFrame frame;
  // The library's function that the line called to get most of its bytes at the
  // peak; the interpreter and malloc are passed over. The function's name is
  // empty if the line allocated by itself.
  CodeFrame called;
  Amount at_peak;
  Amount allocated;
};

// Returns the lines with the most bytes at the peak first.
std::vector<OwnLine> FindOwnLines(const MeasuredRun& run,
                                  const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_

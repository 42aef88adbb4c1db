// Finds the bytes of a process by lines of the program's own code.
//
//   for (const OwnLine& line : FindOwnLines(run, image)) {
//     line.frame.line();        // 12, of train.py
//     line.called.function();   // "numpy.zeros"
//     line.at_peak.bytes();     // what that line holds at the peak
//   }
//
// Each block counts at the innermost line of its stack that is the program's
// own. In Python these are lines of the script and of files that no package
// manager installed. In native code they are lines with debug information
// outside the folders of the system and of Bazel's external repositories, or
// the executable's functions if it has none. code_owner.h defines which code is
// the program's own. A block without such a line is in no row, so the rows add
// up to at most the peak.
//
// A program without code of its own on its stacks (an installed tool) gives no
// rows; site_rows.h has the places in any code.
//
// Pure; thread-safe. Memory: 8 bytes a call, and the rows. Time: linear in
// frames, calls and sites.

#ifndef FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_
#define FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_

#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

struct OwnLine {
  CodeFrame frame;
  // The library's function that the line called to get most of its bytes at the
  // peak; the interpreter and malloc are skipped. The function's name is empty
  // if the line allocated by itself.
  CodeFrame called;
  Amount at_peak;
  Amount allocated;
};

// Returns the lines, those with most bytes at the peak first.
std::vector<OwnLine> FindOwnLines(const MeasuredRun& run,
                                  const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_OWN_LINES_H_

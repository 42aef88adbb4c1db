// The lines that memprof shows of a program while it runs: a headline, the
// timeline, and the lines of code that hold the most now.
//
//   const std::vector<std::string> lines = LiveFrameLines(run, {8, 80});
//   lines[0];  // "-- memprof: live 84.1 MiB, peak 120.4 MiB after 3.2 s --..."
//
// A frame has at most `size.rows` lines of at most `size.columns` characters.
// It is about the process with the highest peak so far. Its live bytes are
// those of the last point of its timeline, at most some milliseconds old while
// the program allocates. If it has no timeline, they are those of the peak.
//
// Pure; thread-safe. Memory: the lines, and a copy of the process. Time: linear
// in sites and calls.

#ifndef FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_FRAME_H_
#define FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_FRAME_H_

#include <string>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

struct FrameSize {
  int rows = 0;
  int columns = 0;
};

// Returns the lines of a frame. If the run has no process yet, returns only a
// headline that says so.
std::vector<std::string> LiveFrameLines(const MeasuredRun& run,
                                        const FrameSize& size);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_LIVE_VIEW_LIVE_FRAME_H_

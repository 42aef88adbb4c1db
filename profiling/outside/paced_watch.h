// Looks through a WholeProcessWatch as often as that may cost, however often it
// is asked. As a rule it spends at most a twentieth of a processor.
//
//   PacedWatch paced(/*group=*/nullptr);  // of what this process starts
//   while (runs) paced.Look();            // every millisecond
//   paced.watch().peak().resident_bytes;
//
// It looks ten times a second even if a look then costs more, and more often in
// the beginning: the first pauses are a millisecond or a tenth of the time
// since the construction. So it also sees a program that ends after a few
// milliseconds.
//
// Owns the watch; the group, if any, must outlive it. Thread-compatible. Memory
// and time of a look: the watch's.

#ifndef FOOTPRINT_PROFILING_OUTSIDE_PACED_WATCH_H_
#define FOOTPRINT_PROFILING_OUTSIDE_PACED_WATCH_H_

#include <chrono>

#include "footprint/base/machine/memory_group.h"
#include "footprint/profiling/outside/whole_process_watch.h"

namespace footprint {

class PacedWatch {
 public:
  // Watches the descendants of this process, and `group` unless it is null.
  explicit PacedWatch(const MemoryGroup* group);

  // Looks, unless it is too early; returns whether it looked.
  bool Look();

  WholeProcessWatch& watch() { return watch_; }

 private:
  using Clock = std::chrono::steady_clock;

  WholeProcessWatch watch_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace footprint

// Tested by //profiling/measuring:measure_whole_process_test.

#endif  // FOOTPRINT_PROFILING_OUTSIDE_PACED_WATCH_H_

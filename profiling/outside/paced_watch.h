// A WholeProcessWatch that is asked at any rate and looks as often as it may
// cost: it spends no more than a twentieth of a processor.
//
//   PacedWatch paced(/*group=*/nullptr);  // of what this process starts
//   while (runs) paced.Look();            // every millisecond
//   paced.watch().peak().resident_bytes;
//
// It looks at least ten times a second, and at least once in each tenth of the
// time since its begin: a program that ends after a few milliseconds is looked
// at, too.
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
  // Watches the descendants of this process.
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

// Takes samples with a WholeProcessWatch, but only as often as their cost
// allows, however often the caller asks. As a rule it uses at most a twentieth
// of a processor.
//
//   PacedWatch paced(/*group=*/nullptr);  // of what this process starts
//   while (runs) paced.Look();            // every millisecond
//   paced.watch().peak().resident_bytes;
//
// It pauses for at most 100 ms between two samples, whatever they cost, and
// for less in the beginning: the first pauses are a millisecond or a
// tenth of the time since the construction. So it also sees a program that ends
// after a few milliseconds.
//
// Owns the watch; the group, if any, must outlive it. Thread-compatible. Memory
// and time of a sample: the watch's.

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

  // Takes a sample, unless it is too early. Returns whether it took one.
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

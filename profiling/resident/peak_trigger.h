// Decides whether a sum that is expensive to read may be at a new peak, by a
// sum that each sample gives for nothing and that is at least as large.
//
//   PeakTrigger trigger;
//   if (trigger.MayBeNewPeak(cheap_bytes, peak_bytes)) {
//     const int64_t exact_bytes = ...;
//     trigger.HasRead(exact_bytes, cheap_bytes);
//   }
//   trigger.EndSample(cheap_bytes);
//
// It asks for a reading when the cheap sum has grown by a fiftieth since the
// last one, or by a four-hundredth if it stays constant for a sample, so that a
// peak that lasts is met closely. Thread-compatible.

#ifndef FOOTPRINT_PROFILING_RESIDENT_PEAK_TRIGGER_H_
#define FOOTPRINT_PROFILING_RESIDENT_PEAK_TRIGGER_H_

#include <algorithm>
#include <cstdint>

namespace footprint {

// Returns whether a sum has grown enough since `read_bytes` to be read again.
inline bool HasGrownEnough(int64_t cheap_bytes, int64_t last_cheap_bytes,
                           int64_t grown_bytes, int64_t read_bytes) {
  constexpr int64_t kGrainOfGrowth = 50;
  constexpr int64_t kGrainOfRest = 400;
  const bool stays = cheap_bytes - last_cheap_bytes < cheap_bytes / 2000;
  return grown_bytes > read_bytes / (stays ? kGrainOfRest : kGrainOfGrowth);
}

class PeakTrigger {
 public:
  // `peak_bytes`: the largest exact sum so far, which no smaller cheap sum can
  // exceed.
  bool MayBeNewPeak(int64_t cheap_bytes, int64_t peak_bytes) const {
    return cheap_bytes > peak_bytes &&
           HasGrownEnough(cheap_bytes, last_cheap_bytes_,
                          cheap_bytes - read_cheap_bytes_, exact_bytes_);
  }

  // Remembers what a reading gave, and the cheap sum at that time.
  void HasRead(int64_t exact_bytes, int64_t cheap_bytes) {
    exact_bytes_ = exact_bytes;
    read_cheap_bytes_ = cheap_bytes;
  }

  // Remembers a sample. What shrank and grows again has grown.
  void EndSample(int64_t cheap_bytes) {
    read_cheap_bytes_ = std::min(read_cheap_bytes_, cheap_bytes);
    last_cheap_bytes_ = cheap_bytes;
  }

 private:
  int64_t exact_bytes_ = 0;
  int64_t read_cheap_bytes_ = 0;
  int64_t last_cheap_bytes_ = 0;
};

}  // namespace footprint

// Tested by resident_watch_test.

#endif  // FOOTPRINT_PROFILING_RESIDENT_PEAK_TRIGGER_H_

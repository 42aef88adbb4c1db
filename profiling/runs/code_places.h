// The places in the code that a run's calls are put down to, each found once,
// and each the same however many calls lie there.
//
//   const CodePlaces places(run);
//   for (const SiteAmounts& site : image.sites()) {
//     bytes[places.OfCall(site.call())] += site.at_peak().bytes();
//   }
//   places.FindShownFrame(3).function();
//
// The place of a call is the innermost one around it that does not allocate, or
// interpret, for its caller; where each does, itself. Below a call of Python
// code, a native one is the place only if its line is known; else the line of
// Python is. Frames of one function, file, line and object are one place.
//
// Made for millions of calls. Thread-compatible; the frames are the run's,
// which must outlive them. Memory: 8 bytes a call and 80 a frame, and 4 more a
// call while places are found. Time: linear in calls and frames.

#ifndef FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_
#define FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

class CodePlaces {
 public:
  // The place where there is no call: before the record began.
  static constexpr uint32_t kNowhere = 0;

  // The run is one that CheckMeasuredRun accepts (measured_run_file.h).
  explicit CodePlaces(const MeasuredRun& run);

  // The index of a place, below size(), of a call as sites name it.
  uint32_t OfCall(uint32_t call) const {
    return call < of_calls_.size() ? of_calls_[call] : kNowhere;
  }

  size_t size() const { return frames_.size(); }

  // Returns the frame of a place, or null for kNowhere.
  const CodeFrame* FrameAt(uint32_t place) const { return frames_[place]; }
  // Returns the frame of a place as reports show it: "[before the agent began]"
  // for kNowhere.
  const CodeFrame& FindShownFrame(uint32_t place) const {
    return place == kNowhere ? FrameBeforeRecord() : *frames_[place];
  }
  static const CodeFrame& FrameBeforeRecord();

 private:
  void AddFrames(const MeasuredRun& run);
  void AddCalls(const MeasuredRun& run);

  std::vector<const CodeFrame*> frames_;
  std::vector<uint32_t> of_frames_;
  std::vector<uint32_t> of_calls_;
};

// Returns whether the frame allocates, or interprets, for the one around it.
bool ServesItsCaller(const CodeFrame& frame);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_

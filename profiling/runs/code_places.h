// Finds the place in the code for each of a run's calls, once for all of them.
// All calls with the same place share its number.
//
//   const CodePlaces places(run);
//   for (const SiteAmounts& site : image.sites()) {
//     bytes[places.OfCall(site.call())] += site.at_peak().bytes();
//   }
//   places.FindShownFrame(3).function();
//
// The place of a call is the innermost call of its stack that neither allocates
// nor interprets for its caller. If there is no such call, it is the call
// itself. Below a call of Python code, a native call is the place only if its
// line is known; otherwise the line of Python is. Frames with the same
// function, file, line and object are one place.
//
// Works for millions of calls. Thread-compatible; the run owns the frames and
// must outlive this object. Memory: 4 bytes a call and 12 a frame; while places
// are computed, also 5 a call and some 80 a frame. Time: linear in calls and
// frames.

#ifndef FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_
#define FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

class CodePlaces {
 public:
  // The place for blocks without a call, from before the record began.
  static constexpr uint32_t kNowhere = 0;

  // The run must be one that CheckMeasuredRun accepts (measured_run_file.h).
  explicit CodePlaces(const MeasuredRun& run);

  // Returns the index of a call's place, below size(). Calls are numbered as in
  // sites.
  uint32_t OfCall(uint32_t call) const {
    return call < of_calls_.size() ? of_calls_[call] : kNowhere;
  }

  size_t size() const { return frames_.size(); }

  // Returns the frame of a place; null for kNowhere.
  const CodeFrame* FrameAt(uint32_t place) const { return frames_[place]; }
  // Returns the frame of a place for reports; "[before the agent began]" for
  // kNowhere.
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

// Returns whether the frame allocates, or interprets, for its caller.
bool ServesItsCaller(const CodeFrame& frame);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_CODE_PLACES_H_

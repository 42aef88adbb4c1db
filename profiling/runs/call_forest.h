// Collects the frames and calls of a run. Each is stored once, however many
// processes and stacks have it.
//
//   MeasuredRun run;
//   CallForest forest(&run);
//   const uint32_t main = forest.Call(0, forest.Frame(main_frame));
//   const uint32_t fit = forest.Call(main, forest.Frame(fit_frame));
//   site->set_call(fit);
//
// Thread-compatible. Does not own the run, which must outlive it and get frames
// and calls only from it. Memory: some 100 bytes a frame and 20 a call, besides
// the run's.

#ifndef FOOTPRINT_PROFILING_RUNS_CALL_FOREST_H_
#define FOOTPRINT_PROFILING_RUNS_CALL_FOREST_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

class CallForest {
 public:
  explicit CallForest(MeasuredRun* run) : run_(*run) {}
  CallForest(const CallForest&) = delete;
  CallForest& operator=(const CallForest&) = delete;

  // Returns the frame's index, as calls name it, and adds the frame if needed.
  uint32_t Frame(const CodeFrame& frame);

  // Returns the call's index plus 1, as sites name it, and adds the call if
  // needed. `parent` is such a number too.
  uint32_t Call(uint32_t parent, uint32_t frame);

 private:
  MeasuredRun& run_;
  absl::flat_hash_map<std::string, uint32_t> frames_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> calls_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_CALL_FOREST_H_

// Prints the progress of a training, at most one line in two seconds.
//
//   footprint::ProgressLines lines(&std::cerr, plan.planned_bytes());
//   lines.Begin(MonotonicTimeNs());
//   lines.Step(MonotonicTimeNs(), progress);
//   // step 1200 of 9000 (epoch 3): loss 0.2931, rate 0.000981, 5,310 rows/s,
//   // 12.4 MiB planned, 21.9 MiB resident
//
// A training of less than two seconds prints nothing. Refers to the stream.
// Thread-compatible. Memory: some words, and a line's text while it is printed.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_PROGRESS_LINES_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_PROGRESS_LINES_H_

#include <cstdint>
#include <iosfwd>
#include <string>

#include "absl/types/optional.h"

namespace footprint {

struct StepProgress {
  int64_t step = 0;   // from 1
  int64_t steps = 0;  // in all
  int64_t epoch = 0;  // from 1
  int64_t rows = 0;   // of this step
  double loss = 0;    // the mean of the epoch so far
  absl::optional<float> rate;
};

class ProgressLines {
 public:
  // Prints nothing if `stream` is null.
  ProgressLines(std::ostream* stream, int64_t planned_bytes,
                int64_t bytes_saved_by_freezing = 0)
      : stream_(stream),
        planned_bytes_(planned_bytes),
        saved_bytes_(bytes_saved_by_freezing) {}

  // Times are of the monotonic clock, in nanoseconds.
  void Begin(int64_t now_ns) { last_ns_ = now_ns; }
  // Says that a step is done; prints if two seconds have passed since Begin or
  // the last line.
  void Step(int64_t now_ns, const StepProgress& progress);

 private:
  std::ostream* stream_;
  int64_t planned_bytes_;
  int64_t saved_bytes_;
  int64_t last_ns_ = 0;
  int64_t rows_ = 0;  // since the last line
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_PROGRESS_LINES_H_

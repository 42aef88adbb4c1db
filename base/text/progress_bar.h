// A line that shows the progress of a long job.
//
//   footprint::ProgressBar bar(stderr, "packing");
//   bar.Update(bytes_done, bytes_total);
//
//   footprint::ProgressBar bar(stderr, "measuring", "runs");
//   bar.Update(3, 9);  // measuring [####   ]  33 % of 9 runs
//
// A terminal shows one line that is drawn again and again; any other stream
// gets a line for each tenth of the job. The stream must outlive the bar.
// Thread-compatible; allocates nothing.

#ifndef FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_
#define FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_

#include <cstdint>
#include <cstdio>

namespace footprint {

class ProgressBar {
 public:
  // `what` and `counted` must be literals. `counted` names the job's parts, if
  // they are not bytes.
  ProgressBar(FILE* stream, const char* what, const char* counted = nullptr);

  // Draws if a hundredth (on a terminal) or a tenth was completed since the
  // last drawing, and at the first call. A total of 0 counts as complete.
  // `done` must be from 0 to `total`.
  void Update(int64_t done, int64_t total);

 private:
  FILE* const stream_;
  const char* const what_;
  const char* const counted_;
  const bool terminal_;
  int drawn_percent_ = -1;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_

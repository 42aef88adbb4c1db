// A line that says how far a long job is.
//
//   footprint::ProgressBar bar(stderr, "packing");
//   bar.Update(bytes_done, bytes_total);
//
//   footprint::ProgressBar bar(stderr, "measuring", "runs");
//   bar.Update(3, 9);  // measuring [####   ]  33 % of 9 runs
//
// On a terminal one line is drawn over and over; elsewhere there is a line for
// every tenth. The stream must outlive the bar. Thread-compatible; allocates
// nothing.

#ifndef FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_
#define FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_

#include <cstdint>
#include <cstdio>

namespace footprint {

class ProgressBar {
 public:
  // `what` must be a literal, and so must `counted`: what the job consists of,
  // where that is not bytes.
  ProgressBar(FILE* stream, const char* what, const char* counted = nullptr);

  // Draws when a hundredth, or a tenth, has been done since the last time.
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

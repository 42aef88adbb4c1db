// A line that says how far a long job is.
//
//   footprint::ProgressBar bar(stderr, "packing");
//   bar.Update(bytes_done, bytes_total);
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
  // `what` must be a literal.
  ProgressBar(FILE* stream, const char* what);

  // Draws when a hundredth, or a tenth, has been done since the last time.
  void Update(int64_t done_bytes, int64_t total_bytes);

 private:
  FILE* const stream_;
  const char* const what_;
  const bool terminal_;
  int drawn_percent_ = -1;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_PROGRESS_BAR_H_

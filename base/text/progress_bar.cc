#include "footprint/base/text/progress_bar.h"

#include <unistd.h>

namespace footprint {
namespace {

constexpr int kWidth = 40;
constexpr double kMebibyte = 1024.0 * 1024.0;

}  // namespace

ProgressBar::ProgressBar(FILE* stream, const char* what, const char* counted)
    : stream_(stream),
      what_(what),
      counted_(counted),
      terminal_(isatty(fileno(stream)) == 1) {}

void ProgressBar::Update(int64_t done, int64_t total) {
  const int step = terminal_ ? 1 : 10;
  const int percent = total == 0
                          ? 100
                          : static_cast<int>(100.0 * static_cast<double>(done) /
                                             static_cast<double>(total));
  if (percent / step * step <= drawn_percent_) return;
  drawn_percent_ = percent / step * step;
  const int filled = kWidth * percent / 100;
  fprintf(stream_, "%s%s [%.*s%*s] %3d %% of ", terminal_ ? "\r" : "", what_,
          filled, "########################################", kWidth - filled,
          "", percent);
  if (counted_ == nullptr) {
    fprintf(stream_, "%.1f MiB", static_cast<double>(total) / kMebibyte);
  } else {
    fprintf(stream_, "%lld %s", static_cast<long long>(total), counted_);
  }
  fputs(terminal_ && percent < 100 ? "" : "\n", stream_);
  fflush(stream_);
}

}  // namespace footprint

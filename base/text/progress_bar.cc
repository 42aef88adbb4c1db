#include "footprint/base/text/progress_bar.h"

#include <unistd.h>

namespace footprint {
namespace {

constexpr int kWidth = 40;
constexpr double kMebibyte = 1024.0 * 1024.0;

}  // namespace

ProgressBar::ProgressBar(FILE* stream, const char* what)
    : stream_(stream), what_(what), terminal_(isatty(fileno(stream)) == 1) {}

void ProgressBar::Update(int64_t done_bytes, int64_t total_bytes) {
  const int step = terminal_ ? 1 : 10;
  const int percent =
      total_bytes == 0
          ? 100
          : static_cast<int>(100.0 * static_cast<double>(done_bytes) /
                             static_cast<double>(total_bytes));
  if (percent / step * step <= drawn_percent_) return;
  drawn_percent_ = percent / step * step;
  const int filled = kWidth * percent / 100;
  fprintf(stream_, "%s%s [%.*s%*s] %3d %% of %.1f MiB%s", terminal_ ? "\r" : "",
          what_, filled, "########################################",
          kWidth - filled, "", percent,
          static_cast<double>(total_bytes) / kMebibyte,
          terminal_ && percent < 100 ? "" : "\n");
  fflush(stream_);
}

}  // namespace footprint

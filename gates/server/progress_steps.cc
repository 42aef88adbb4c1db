#include "footprint/gates/server/progress_steps.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

constexpr int64_t kIntervalMilliseconds = 2000;

}  // namespace

int64_t ProgressSteps::Now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ProgressSteps::ProgressSteps(std::string work, Report report, Clock clock)
    : work_(std::move(work)),
      report_(std::move(report)),
      clock_(std::move(clock)),
      next_milliseconds_(clock_() + kIntervalMilliseconds) {}

void ProgressSteps::Note(int64_t done_bytes, int64_t all_bytes) {
  const int64_t now = clock_();
  if (!report_ || now < next_milliseconds_) return;
  next_milliseconds_ = now + kIntervalMilliseconds;
  report_(absl::StrCat(work_, ": ", FormatRoundedBytes(done_bytes),
                       all_bytes > 0
                           ? absl::StrCat(" of ", FormatRoundedBytes(all_bytes))
                           : ""));
}

}  // namespace footprint

#include "footprint/trainer_manager/training/progress_lines.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

constexpr int64_t kBetweenLinesNs = 2'000'000'000;

}  // namespace

void ProgressLines::Step(int64_t now_ns, const StepProgress& progress) {
  rows_ += progress.rows;
  const int64_t passed_ns = now_ns - last_ns_;
  if (stream_ == nullptr || passed_ns < kBetweenLinesNs) return;
  const double seconds = static_cast<double>(passed_ns) * 1e-9;
  const std::string rate =
      progress.rate ? absl::StrFormat(", rate %.3g", *progress.rate) : "";
  const std::string saved =
      saved_bytes_ > 0 ? absl::StrCat(" (freezing saves ",
                                      FormatRoundedBytes(saved_bytes_), ")")
                       : "";
  *stream_ << absl::StrFormat(
      "step %d of %d (epoch %d): loss %.4g%s, %s rows/s, %s planned%s, %s "
      "resident\n",
      progress.step, progress.steps, progress.epoch, progress.loss, rate,
      FormatCount(static_cast<int64_t>(static_cast<double>(rows_) / seconds)),
      FormatRoundedBytes(planned_bytes_), saved,
      FormatRoundedBytes(ReadResidentBytes().now_bytes));
  stream_->flush();
  last_ns_ = now_ns;
  rows_ = 0;
}

}  // namespace footprint

#include "footprint/gates/server/label_reader.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

constexpr size_t kMostKeptLabels = 1000;
constexpr int kMostBundles = 3;
// A read of this length or less is no reason to wait.
constexpr double kShortSeconds = 1;
constexpr double kWaitPerRead = 3;

double SystemSeconds() { return static_cast<double>(MonotonicTimeNs()) * 1e-9; }

absl::Status ServerEnds() {
  return absl::UnavailableError("the server ends; send the bundle again later");
}

}  // namespace

LabelReader::LabelReader(ReadLabel read_label,
                         std::function<double()> now_seconds)
    : read_label_(std::move(read_label)),
      now_seconds_(now_seconds ? std::move(now_seconds) : SystemSeconds) {}

absl::optional<absl::StatusOr<std::string>> LabelReader::FindAnswer(
    const Submitter& submitter, const std::string& sha256) {
  const auto known = labels_.find(sha256);
  if (known != labels_.end()) return known->second;
  if (is_stopped_) return ServerEnds();
  const double wait_seconds = submitter.next_seconds - now_seconds_();
  if (wait_seconds <= 0) return absl::nullopt;
  return absl::UnavailableError(absl::StrCat(
      "this token's last bundle took long to read for its label; send this one "
      "in ",
      static_cast<int64_t>(std::ceil(wait_seconds)), " s"));
}

absl::StatusOr<std::string> LabelReader::Read(const std::string& submitter,
                                              const std::string& sha256,
                                              const std::string& path) {
  {
    MutexLock lock(&mutex_);
    Submitter& own = submitters_[submitter];
    auto answer = FindAnswer(own, sha256);
    if (answer.has_value()) return *std::move(answer);
    if (own.bundle_count >= kMostBundles) {
      return absl::UnavailableError(
          absl::StrCat(kMostBundles,
                       " bundles of this token are being read for their "
                       "labels; send this one when one of them has an answer"));
    }
    ++own.bundle_count;
    while (is_reading_) changed_.Wait(&mutex_);
    // The other thread may have read this bundle, or have taken long.
    answer = FindAnswer(own, sha256);
    if (answer.has_value()) {
      --own.bundle_count;
      return *std::move(answer);
    }
    is_reading_ = true;
  }
  // Only this thread reads now. Others go on even if the read throws.
  const double begin_seconds = now_seconds_();
  const absl::Cleanup end = [&] { EndRead(submitter, begin_seconds); };
  absl::StatusOr<std::string> label =
      read_label_(path, [this] { return is_stopped_.load(); });
  if (is_stopped_ && !label.ok()) return ServerEnds();
  if (label.ok() || absl::IsInvalidArgument(label.status())) {
    MutexLock lock(&mutex_);
    if (labels_.size() >= kMostKeptLabels) labels_.clear();
    labels_.insert_or_assign(sha256, label);
  }
  return label;
}

void LabelReader::EndRead(const std::string& submitter, double begin_seconds) {
  const double end_seconds = now_seconds_();
  const double read_seconds = end_seconds - begin_seconds;
  MutexLock lock(&mutex_);
  is_reading_ = false;
  changed_.NotifyAll();
  Submitter& own = submitters_[submitter];
  --own.bundle_count;
  if (read_seconds > kShortSeconds) {
    own.next_seconds = end_seconds + kWaitPerRead * read_seconds;
  }
}

void LabelReader::Stop() { is_stopped_ = true; }

}  // namespace footprint

#include "footprint/gates/server/duration_histograms.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace footprint {

void DurationHistograms::Add(const std::string& token, double seconds) {
  const double duration = std::max(seconds, 0.0);
  const auto* const bound =
      std::find_if(kBoundsSeconds.begin(), kBoundsSeconds.end(),
                   [&](int each) { return duration <= each; });
  MutexLock lock(&mutex_);
  Histogram& histogram = by_token_[token];
  ++histogram.counts[static_cast<size_t>(bound - kBoundsSeconds.begin())];
  histogram.sum_seconds += duration;
}

void DurationHistograms::AppendMetric(absl::string_view name,
                                      absl::string_view help,
                                      std::string* text) const {
  const std::string family = absl::StrCat("footprint_", name);
  absl::StrAppend(text, "# TYPE ", family, " histogram\n# UNIT ", family,
                  " seconds\n# HELP ", family, " ", help, "\n");
  MutexLock lock(&mutex_);
  for (const auto& [token, histogram] : by_token_) {
    // The names of tokens need no escape (access_tokens.h).
    const std::string label = absl::StrCat("{token=\"", token, "\"");
    int64_t count = 0;
    for (size_t i = 0; i < histogram.counts.size(); ++i) {
      count += histogram.counts[i];
      absl::StrAppend(text, family, "_bucket", label, ",le=\"",
                      i < kBoundsSeconds.size()
                          ? absl::StrCat(kBoundsSeconds[i], ".0")
                          : "+Inf",
                      "\"} ", count, "\n");
    }
    absl::StrAppend(text, family, "_count", label, "} ", count, "\n", family,
                    "_sum", label, "} ",
                    // StrCat would write six digits: a sum would stand still
                    // beyond a million seconds.
                    absl::StrFormat("%.15g", histogram.sum_seconds), "\n");
  }
}

}  // namespace footprint

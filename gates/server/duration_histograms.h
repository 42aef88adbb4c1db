// Counts durations by token, and writes them as histograms in the text format
// of OpenMetrics.
//
//   DurationHistograms waiting;
//   waiting.Add("ci", 12.5);
//   waiting.AppendMetric("waiting_seconds", "Time that trials waited.", &text);
//
// Writes, for each token, the number of durations up to each of 1, 5, 15, 60,
// 300, 900, 3,600 and 14,400 seconds, and their number and sum. The counts
// begin when the object is made.
//
// Thread-safe. Memory: about 200 bytes for each token.

#ifndef FOOTPRINT_GATES_SERVER_DURATION_HISTOGRAMS_H_
#define FOOTPRINT_GATES_SERVER_DURATION_HISTOGRAMS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class DurationHistograms {
 public:
  // Adds a duration. A negative one, which a clock that was set back gives,
  // counts as 0.
  void Add(const std::string& token, double seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Appends the family footprint_NAME; `name` ends with the unit. Tokens are in
  // the order of their names. Without a duration, there is only the family's
  // description.
  void AppendMetric(absl::string_view name, absl::string_view help,
                    std::string* text) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr std::array<int, 8> kBoundsSeconds = {1,   5,   15,   60,
                                                        300, 900, 3600, 14400};
  struct Histogram {
    // The durations up to each bound that are above the bound before it, and
    // those above all bounds.
    std::array<int64_t, kBoundsSeconds.size() + 1> counts = {};
    double sum_seconds = 0;
  };

  mutable Mutex mutex_;
  std::map<std::string, Histogram> by_token_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_DURATION_HISTOGRAMS_H_

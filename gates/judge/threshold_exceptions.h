// Finds the threshold that judges a measurement if several select it: the most
// particular one is an exception to the others.
//
//   const ThresholdExceptions exceptions(sources);
//   // The third threshold of the first file, for a measurement that it names:
//   const auto judging = exceptions.Find(0, 2, profile, benchmark, "fit");
//   if (judging.has_value()) ...  // judging->source, judging->number
//
// If two thresholds of the same metric have a rule of the same sort, the
// threshold with the more particular selector (selector.h) judges, and it
// overrides the other. Rules over samples and rules over figures are different
// sorts, and a scaling law judges a whole family of benchmarks, so it neither
// overrides nor is overridden.
//
// Keeps a reference to the thresholds, which must outlive it. Thread-safe after
// construction. Memory: about 100 bytes for each threshold that has exceptions,
// and 16 bytes for each of its exceptions. Time: each threshold that has a star
// or names no benchmark is compared with those that may name the same label.

#ifndef FOOTPRINT_GATES_JUDGE_THRESHOLD_EXCEPTIONS_H_
#define FOOTPRINT_GATES_JUDGE_THRESHOLD_EXCEPTIONS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class ThresholdExceptions {
 public:
  // The place of a threshold: the index of its file, and its index in the file.
  struct Place {
    size_t source = 0;
    int number = 0;
  };

  explicit ThresholdExceptions(absl::Span<const ThresholdSource> sources);

  // Returns whether some threshold may override threshold `number` of file
  // `source`.
  bool HasExceptions(size_t source, int number) const {
    return exceptions_.count({source, number}) > 0;
  }

  // Returns the most particular exception to threshold `number` of file
  // `source` that selects the measurement; nullopt if there is none, so that
  // this threshold, which must select the measurement, judges it. `phase` is
  // empty for the whole region. Only files for the profile's environment count;
  // if the file `source` itself is for another one, only this file counts.
  absl::optional<Place> Find(size_t source, int number,
                             const MemoryProfile& profile,
                             const BenchmarkMemory& benchmark,
                             absl::string_view phase) const;

  // Returns "gates/thresholds/tabular.textproto:12".
  std::string DescribeLocation(const Place& place) const {
    return sources_[place.source].DescribeLocation(place.number);
  }

 private:
  const Threshold& At(const Place& place) const {
    return sources_[place.source].file.threshold(place.number);
  }
  void AddExceptionsFrom(const Place& general,
                         const std::vector<Place>& others);

  const absl::Span<const ThresholdSource> sources_;
  // The exceptions to a threshold, by its place.
  std::map<std::pair<size_t, int>, std::vector<Place>> exceptions_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_THRESHOLD_EXCEPTIONS_H_

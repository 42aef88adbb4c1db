// Finds what a selector names in a set of profiles, fast enough for 10,000 of
// them.
//
//   MeasurementIndex index(profiles);
//   for (const Measurement& found : index.Find(selector, ALLOCATION_COUNT)) {
//     Use(profiles[found.profile].benchmarks(found.benchmark), found.metric);
//   }
//
// Keeps pointers into the profiles, which must outlive it and not change.
// Thread-safe after construction. Memory: about 100 bytes a benchmark. Time: a
// selector without '*' costs two hash look-ups; a '*' in the label looks at
// every profile, one in the benchmark at every benchmark of the label.

#ifndef FOOTPRINT_GATES_JUDGE_MEASUREMENT_INDEX_H_
#define FOOTPRINT_GATES_JUDGE_MEASUREMENT_INDEX_H_

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// One metric of one benchmark, or of one of its phases.
struct Measurement {
  int profile = 0;    // index in the profiles
  int benchmark = 0;  // index in the profile
  int phase = -1;     // index in the benchmark; -1: the whole region
  // Null if the metric did not repeat, so that there is no value.
  const Metric* metric = nullptr;
};

// Equal for the same metric of the same benchmark or phase.
using MeasurementKey = std::tuple<int, int, int, MetricKind>;

inline MeasurementKey MakeKey(const Measurement& found, MetricKind kind) {
  return {found.profile, found.benchmark, found.phase, kind};
}

// A measurement, and the threshold that names it.
struct RuledMeasurement {
  Measurement measurement;
  MetricKind metric = METRIC_KIND_UNSPECIFIED;
  size_t source = 0;  // index in the threshold files
  int number = 0;     // index in the file
};

class MeasurementIndex {
 public:
  explicit MeasurementIndex(absl::Span<const MemoryProfile> profiles);

  const MemoryProfile& ProfileAt(int profile) const {
    return profiles_[static_cast<size_t>(profile)];
  }
  const BenchmarkMemory& BenchmarkAt(const Measurement& found) const {
    return ProfileAt(found.profile).benchmarks(found.benchmark);
  }
  // The phase's name; empty for the whole region.
  std::string PhaseAt(const Measurement& found) const;
  // Describes what was found as DescribeMeasurement does.
  std::string Describe(const Measurement& found) const;

  // Returns the indices of the profiles in ascending order.
  std::vector<int> FindProfiles(absl::string_view label_glob) const;

  // Benchmarks of a profile that the selector's benchmark and arguments fit, in
  // ascending order; its label is not looked at.
  std::vector<int> FindBenchmarks(int profile, const Selector& selector) const;

  // Appends the measurements that the selector's phase and `kind` name in one
  // benchmark: for a metric that was measured or did not repeat. False if the
  // benchmark has no such phase, or a region or phase that is named has no such
  // metric.
  bool AppendMeasurements(int profile, int benchmark, const Selector& selector,
                          MetricKind kind,
                          std::vector<Measurement>* measurements) const;

  // Appends the regions that the selector's phase names in one benchmark,
  // without their metric: that of a metric that varies is in samples only.
  // Returns false if there is none.
  bool AppendRegions(int profile, int benchmark, const Selector& selector,
                     std::vector<Measurement>* regions) const;

  // All of it, over every profile that the label fits.
  std::vector<Measurement> Find(const Selector& selector,
                                MetricKind kind) const;

  // Returns why `found`, of that kind, has no value, as the end of a sentence
  // that names it: "was not the same in every process".
  const char* WhyNoValue(const Measurement& found, MetricKind kind) const;

  // A benchmark of the same label and name as an earlier one.
  struct Duplicate {
    int profile;
    int benchmark;
  };
  const std::vector<Duplicate>& duplicates() const { return duplicates_; }

 private:
  absl::Span<const MemoryProfile> profiles_;
  absl::flat_hash_map<absl::string_view, std::vector<int>> profiles_by_label_;
  // The indices of each profile's benchmarks by name.
  std::vector<absl::flat_hash_map<absl::string_view, int>> benchmark_by_name_;
  std::vector<Duplicate> duplicates_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_MEASUREMENT_INDEX_H_

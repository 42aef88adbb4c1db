// Finds the measurements that a selector names, fast enough for 10,000
// profiles.
//
//   MeasurementIndex index(profiles);
//   for (const Measurement& found : index.Find(selector, ALLOCATION_COUNT)) {
//     Use(profiles[found.profile].benchmarks(found.benchmark), found.metric);
//   }
//
// Keeps pointers into the profiles, which must outlive it and not change.
// Thread-safe after construction. Memory: about 100 bytes a benchmark. Time: a
// selector without '*' costs two hash look-ups; a '*' in the label visits every
// profile, and a '*' in the benchmark, or an empty one, visits every benchmark
// of the label.

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
  // Null if the metric has no value because it did not repeat, and for the
  // regions that AppendRegions gives.
  const Metric* metric = nullptr;
};

// A key is equal for the same metric of the same benchmark or phase.
using MeasurementKey = std::tuple<int, int, int, MetricKind>;

// Returns the key of the metric `kind` of `found`.
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
  // Returns the phase's name; empty for the whole region.
  std::string PhaseAt(const Measurement& found) const;
  // Returns DescribeMeasurement's description of `found`.
  std::string Describe(const Measurement& found) const;

  // Returns the indices of the profiles in ascending order.
  std::vector<int> FindProfiles(absl::string_view label_glob) const;

  // Returns the benchmarks of a profile that match the selector's benchmark and
  // arguments, in ascending order. Ignores the selector's label. Of benchmarks
  // with one name (duplicates), a benchmark without a * selects only the first.
  std::vector<int> FindBenchmarks(int profile, const Selector& selector) const;

  // Appends the measurements that the selector's phase and `kind` name in one
  // benchmark, also of a metric that did not repeat. Returns false if the
  // benchmark has no such phase, or if a named region or phase has no such
  // metric.
  bool AppendMeasurements(int profile, int benchmark, const Selector& selector,
                          MetricKind kind,
                          std::vector<Measurement>* measurements) const;

  // Appends the regions that the selector's phase names in one benchmark,
  // without a metric: the values of a metric that varies are only in samples.
  // Returns false if there is none.
  bool AppendRegions(int profile, int benchmark, const Selector& selector,
                     std::vector<Measurement>* regions) const;

  // Returns the measurements of every profile and benchmark that match the
  // selector.
  std::vector<Measurement> Find(const Selector& selector,
                                MetricKind kind) const;

  // Returns why the metric `kind` of `found` has no value, as the end of a
  // sentence: "was not the same in every process".
  const char* WhyNoValue(const Measurement& found, MetricKind kind) const;

  // A benchmark with the same label and name as an earlier one.
  struct Duplicate {
    int profile;
    int benchmark;
  };
  const std::vector<Duplicate>& duplicates() const { return duplicates_; }

 private:
  absl::Span<const MemoryProfile> profiles_;
  absl::flat_hash_map<absl::string_view, std::vector<int>> profiles_by_label_;
  // For each profile, the index of each benchmark by its name.
  std::vector<absl::flat_hash_map<absl::string_view, int>> benchmark_by_name_;
  std::vector<Duplicate> duplicates_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_MEASUREMENT_INDEX_H_

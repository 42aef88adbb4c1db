// Computes the differences of two sets of profiles, old and new, by deployment,
// benchmark, phase and call site at the peak.
//
//   absl::StatusOr<ProfileDiff> diff = DiffProfiles(before, after);
//   if (!diff.ok()) return diff.status();
//   for (const DiffNode& deployment : diff->deployments) {
//     const MetricChange* change = MainChange(deployment);
//     if (change != nullptr) Show(deployment.name, *change);
//   }
//
// All profiles of one label are one deployment: a program may be measured with
// several arguments. An unknown figure is never treated as zero.
//
// Pure functions, thread-safe; the result owns its texts. Memory: about 200
// bytes a metric that differs. Time: n log n in the metrics.

#ifndef FOOTPRINT_GATES_EXPLAINING_PROFILE_DIFF_H_
#define FOOTPRINT_GATES_EXPLAINING_PROFILE_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// A figure that differs. A value that is not set is unknown: it was not
// measured, or was not the same in every process.
struct MetricChange {
  MetricKind metric = METRIC_KIND_UNSPECIFIED;
  absl::optional<int64_t> before;
  absl::optional<int64_t> after;
};

struct DiffNode {
  // A site held bytes of the heap at the peak; a mapping held bytes at the peak
  // of mapped bytes.
  enum class Kind { kDeployment, kBenchmark, kPhase, kSite, kMapping };
  enum class Presence { kBoth, kAdded, kRemoved };

  Kind kind = Kind::kDeployment;
  Presence presence = Presence::kBoth;
  std::string name;
  // For a benchmark or phase, the metrics that differ, in the schema's order;
  // for a deployment, the highest peak of its benchmarks; for a site or
  // mapping, the bytes that it held at its peak. A node that was added or
  // removed has all of its metrics.
  std::vector<MetricChange> changes;
  // The parts that differ, the largest growth first. Unknown growth counts as
  // zero there. A benchmark has its phases before its sites, and these before
  // its mappings.
  std::vector<DiffNode> children;
  // Further remarks: another environment, a producer that failed, new child
  // processes and threads.
  std::vector<std::string> notes;
};

struct ProfileDiff {
  // The deployments that differ; the largest growth of a benchmark comes first.
  std::vector<DiffNode> deployments;
  int same_count = 0;  // deployments that do not
};

// Returns the differences, or kInvalidArgument if one side has a benchmark
// twice.
absl::StatusOr<ProfileDiff> DiffProfiles(absl::Span<const MemoryProfile> before,
                                         absl::Span<const MemoryProfile> after);

// Returns the change by which nodes are sorted: that of the peak, else of the
// first metric in bytes that differs, else of the first metric. Returns null if
// nothing differs.
const MetricChange* MainChange(const DiffNode& node);

// Returns the growth of a figure. A figure of an added node grew by its whole
// value. Returns nullopt if one of the two values is unknown.
absl::optional<int64_t> ComputeGrowth(const DiffNode& node,
                                      const MetricChange& change);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_PROFILE_DIFF_H_

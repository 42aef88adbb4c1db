// The differences of two sets of profiles, old and new, by deployment,
// benchmark, phase and call site at the peak.
//
//   absl::StatusOr<ProfileDiff> diff = DiffProfiles(before, after);
//   if (!diff.ok()) return diff.status();
//   for (const DiffNode& deployment : diff->deployments) {
//     const MetricChange* change = MainChange(deployment);
//     if (change != nullptr) Show(deployment.name, *change);
//   }
//
// Profiles of one label are one deployment, as a program that was measured
// with several arguments. A figure that is unknown is never taken for zero.
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

// A figure that differs. One that is not set is unknown: not measured, or not
// the same in every process.
struct MetricChange {
  MetricKind metric = METRIC_KIND_UNSPECIFIED;
  absl::optional<int64_t> before;
  absl::optional<int64_t> after;
};

struct DiffNode {
  enum class Kind { kDeployment, kBenchmark, kPhase, kSite };
  enum class Presence { kBoth, kAdded, kRemoved };

  Kind kind = Kind::kDeployment;
  Presence presence = Presence::kBoth;
  std::string name;
  // The metrics that differ of a benchmark or phase, in the schema's order; the
  // highest peak of a deployment's benchmarks; the bytes that a site held at
  // the peak. What was added or removed has all of its metrics.
  std::vector<MetricChange> changes;
  // Parts that differ, the largest growth first; of a benchmark, its phases
  // before its sites.
  std::vector<DiffNode> children;
  // Further remarks: another environment, a producer that failed, new child
  // processes and threads.
  std::vector<std::string> notes;
};

struct ProfileDiff {
  std::vector<DiffNode> deployments;  // those that differ
  int same_count = 0;                 // deployments that do not
};

// kInvalidArgument if one side has a benchmark twice.
absl::StatusOr<ProfileDiff> DiffProfiles(absl::Span<const MemoryProfile> before,
                                         absl::Span<const MemoryProfile> after);

// The change by which nodes are sorted: of the peak, or of the first metric in
// bytes that differs, or of the first at all. Null if nothing differs here.
const MetricChange* MainChange(const DiffNode& node);

// Growth of a figure. One that was not there grew by its whole value; nullopt
// if one of the two is unknown.
absl::optional<int64_t> ComputeGrowth(const DiffNode& node,
                                      const MetricChange& change);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_PROFILE_DIFF_H_

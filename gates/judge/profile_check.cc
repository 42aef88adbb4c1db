#include "footprint/gates/judge/profile_check.h"

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/producer_failure.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {

void CheckProfiles(absl::Span<const MemoryProfile> profiles,
                   const MeasurementIndex& index, Verdict* verdict) {
  if (profiles.empty()) {
    AddProblem(BAD_CONFIGURATION, "profiles",
               "there is no profile to judge; name at least one "
               "memory_profile target in the gate",
               verdict);
  }
  // Reports failed programs, and figures that were not shown to repeat.
  for (const MemoryProfile& profile : profiles) {
    if (profile.has_failure()) {
      AddProblem(PRODUCER_FAILED, profile.label(),
                 DescribeFailure(profile.failure()), verdict);
    } else if (profile.benchmarks_size() == 0) {
      AddProblem(PRODUCER_FAILED, profile.label(),
                 "measured no benchmark; run the program and see why", verdict);
    } else if (profile.process_count() < kMinimumProcessCount &&
               !profile.has_imported()) {
      AddProblem(
          INCONCLUSIVE, profile.label(),
          absl::StrCat("was measured in ", profile.process_count(),
                       " processes, so nothing shows that the figures of its ",
                       profile.benchmarks_size(),
                       " benchmarks repeat; measure it by a memory_profile "
                       "target, in at least ",
                       kMinimumProcessCount),
          verdict);
    }
  }
  // Passes the producers' remarks on to the reader of the verdict.
  for (const MemoryProfile& profile : profiles) {
    for (const Remark& remark : profile.remarks()) {
      ProducerRemark* const passed_on = verdict->add_remarks();
      passed_on->set_label(profile.label());
      *passed_on->mutable_remark() = remark;
    }
  }
  // Reports benchmarks that are measured twice.
  for (const auto& duplicate : index.duplicates()) {
    const MemoryProfile& profile = index.ProfileAt(duplicate.profile);
    AddProblem(BAD_CONFIGURATION, profile.label(),
               absl::StrCat("benchmark \"",
                            profile.benchmarks(duplicate.benchmark).name(),
                            "\" is measured twice; name the profile once in "
                            "the gate, or the benchmark otherwise"),
               verdict);
  }
}

void CheckProcessesEnded(absl::Span<const MemoryProfile> profiles,
                         Verdict* verdict) {
  for (const MemoryProfile& profile : profiles) {
    for (const BenchmarkMemory& whole : profile.benchmarks()) {
      if (!IsOutlived(whole)) continue;
      AddProblem(
          INCONCLUSIVE, profile.label(),
          absl::StrCat("processes that it started still ran when it "
                       "had ended, and were killed, so its memory is "
                       "not known (\"",
                       whole.name(), "\"); make it wait for its children"),
          verdict);
    }
  }
}

}  // namespace footprint

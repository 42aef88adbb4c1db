// The experiment's result: which stage needs how much memory, over all sizes.
//
//   absl::StatusOr<std::vector<StageRun>> runs = CollectRuns(profiles);
//   if (!runs.ok()) return runs.status();
//   std::fputs(StageText(*runs).c_str(), stdout);
//   WriteFile("report.html", StageHtml(*runs));
//
// Two views, since they can tell opposite stories. The *peak* of a stage is
// what it held at its worst beyond what was held before it: heap, mapped files,
// and for startup the code and libraries as loaded. Its *volume* is what it
// allocated, freed or not. Shares are of the sum over the stages.
//
// Runs own their texts. Thread-safe. Memory and time: linear in the profiles.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_STAGE_REPORT_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_STAGE_REPORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/scaling/stage_shares.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace tabular {

inline constexpr std::array<const char*, 7> kStages = {
    "startup", "read", "fit", "save", "load", "inference", "write"};

using RunBytes = std::array<StageBytes, kStages.size()>;

// One program over one table, read in one way.
struct StageRun {
  std::string program;
  std::string io;
  int64_t features = 0;
  int64_t rows = 0;
  RunBytes peak_bytes = {};
  RunBytes volume_bytes = {};
  // The highest bytes of the whole process's heap.
  StageBytes process_peak_bytes;

  int64_t table_bytes() const { return 8 * (features + 1) * rows; }
};

// Smaller tables first. kInvalidArgument for a profile of something else than
// this experiment, kFailedPrecondition for one that holds a failure; both name
// its label.
absl::StatusOr<std::vector<StageRun>> CollectRuns(
    const std::vector<MemoryProfile>& profiles);

std::string StageText(const std::vector<StageRun>& runs);
std::string StageHtml(const std::vector<StageRun>& runs);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_STAGE_REPORT_H_

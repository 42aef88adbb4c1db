// Reports how much memory each stage of the experiment needs, over all sizes.
//
//   absl::StatusOr<std::vector<StageRun>> runs = CollectRuns(profiles);
//   if (!runs.ok()) return runs.status();
//   std::fputs(StageText(*runs).c_str(), stdout);
//   WriteFile("report.html", StageHtml(*runs));
//
// The report has two views, which can differ widely. The *peak* of a stage is
// the most it held beyond the bytes held before it: heap, mapped files, and for
// startup the loaded code and libraries. Its *volume* is all that it allocated,
// freed or not. A share is a stage's part of the sum over all stages.
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

// The bytes of one program's run over one table, read in one way.
struct StageRun {
  std::string program;
  std::string io;
  int64_t features = 0;
  int64_t rows = 0;
  RunBytes peak_bytes = {};
  RunBytes volume_bytes = {};
  // Peak bytes of the whole process's heap.
  StageBytes process_peak_bytes;

  int64_t table_bytes() const { return 8 * (features + 1) * rows; }
};

// Returns the runs, those with smaller tables first. Returns kInvalidArgument
// for a profile of another program, and kFailedPrecondition for a profile that
// records a failure; both messages name its label.
absl::StatusOr<std::vector<StageRun>> CollectRuns(
    const std::vector<MemoryProfile>& profiles);

// StageText returns the report for a terminal, StageHtml as a page.
std::string StageText(const std::vector<StageRun>& runs);
std::string StageHtml(const std::vector<StageRun>& runs);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_STAGE_REPORT_H_

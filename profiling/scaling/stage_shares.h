// Shows the share of bytes that each stage of a program takes, over many runs,
// as a table of text and as bars for a page.
//
//   StagedRuns peaks;
//   peaks.label_names = {"features x rows"};
//   peaks.stages = {"read", "fit"};
//   peaks.runs = {{"regression", {"10 x 1,000"}, {1200, 800}}};
//   std::string text = StageShareText(peaks, "Share of the peaks, per cent");
//   page.AddViews("Show", {StageShareView(peaks, StackedBars::Scale::kShare,
//                                         "Share", "A stage's peak is ...")});
//
// Shares are parts of the sum over the stages. A run in which a stage is
// unknown has no shares; its sum is a lower bound.
//
// Pure; thread-safe. Memory and time: linear in the runs.

#ifndef FOOTPRINT_PROFILING_SCALING_STAGE_SHARES_H_
#define FOOTPRINT_PROFILING_SCALING_STAGE_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "footprint/base/page/page.h"

namespace footprint {

// The bytes of a stage; not set if they are unknown.
using StageBytes = absl::optional<int64_t>;

struct StagedRun {
  std::string program;
  // Texts that identify the run among those of its program, one per label name.
  std::vector<std::string> labels;
  std::vector<StageBytes> bytes;  // One per stage.
};

struct StagedRuns {
  std::vector<std::string> label_names;
  std::vector<std::string> stages;  // Colours distinguish at most 8.
  // The colour of the first stage, so that charts that leave out some stages
  // have the same colours.
  size_t first_colour = 0;
  std::vector<StagedRun> runs;
};

// Returns the programs' names without duplicates, in alphabetical order.
std::vector<std::string> ListPrograms(const StagedRuns& runs);

// Returns a table with a row per run, grouped by program.
std::string StageShareText(const StagedRuns& runs, const char* caption);

// Returns the same table with bytes, each rounded to a unit.
std::string StageByteText(const StagedRuns& runs, const char* caption);

// Returns a chart per program, with its figures to unfold.
PageContent::View StageShareView(const StagedRuns& runs,
                                 StackedBars::Scale scale, const char* name,
                                 const char* explanation);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_STAGE_SHARES_H_

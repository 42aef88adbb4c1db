// The share of bytes that each stage of a program takes, over many runs, as a
// table of text and as bars for a page.
//
//   StagedRuns peaks;
//   peaks.label_names = {"features x rows"};
//   peaks.stages = {"read", "fit"};
//   peaks.runs = {{"regression", {"10 x 1,000"}, {1200, 800}}};
//   std::string text = StageShareText(peaks, "Share of the peaks, in per
//   cent"); page.AddViews("Show", {StageShareView(peaks,
//   StackedBars::Scale::kShare,
//                                         "Share", "A stage's peak is ...")});
//
// Shares are of the sum over the stages. A run with a stage that is not known
// has none: its sum is what is known, at least.
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

// The bytes of a stage; not set if they are not known.
using StageBytes = absl::optional<int64_t>;

struct StagedRun {
  std::string program;
  // Texts that tell the run from others of the program: one a label name.
  std::vector<std::string> labels;
  std::vector<StageBytes> bytes;  // one a stage
};

struct StagedRuns {
  std::vector<std::string> label_names;
  std::vector<std::string> stages;  // at most 8 are told apart by colour
  // The colour of the first stage, so that charts that leave some out colour
  // alike.
  size_t first_colour = 0;
  std::vector<StagedRun> runs;
};

// The programs' names, each once, in alphabetical order.
std::vector<std::string> ListPrograms(const StagedRuns& runs);

// A row each run, one program after the other.
std::string StageShareText(const StagedRuns& runs, const char* caption);

// A chart each program, and its figures to unfold.
PageContent::View StageShareView(const StagedRuns& runs,
                                 StackedBars::Scale scale, const char* name,
                                 const char* explanation);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_STAGE_SHARES_H_

// Programs that were measured over their variables, as plain figures: one run a
// cell, and the law by which each stage grows.
//
//   ScaledRuns runs = {{"features", "rows"}, {}};
//   absl::Status status = AddProfile(*profile, "", &runs);
//   for (const StageLaw& law : StageLaws(runs)) std::cout << law.stage;
//
// A run's stages are the outermost phases of its benchmark. The peak of a stage
// is what it held at its worst beyond what was held before it; its volume is
// what it allocated, freed or not. Bytes are usable heap bytes. Besides the
// stages there is kOutside. For peaks: what was live when the first stage began
// (an interpreter, libraries) or, where the run's peak lies outside of all
// stages, what was live then beyond what stages had left. For volumes: what no
// stage allocated.
//
// Pure; thread-safe. Memory: the runs.

#ifndef FOOTPRINT_PROFILING_SCALING_SCALED_RUNS_H_
#define FOOTPRINT_PROFILING_SCALING_SCALED_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "footprint/base/scaling/scaling_law.h"
#include "footprint/profiling/scaling/stage_shares.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

inline constexpr char kOutside[] = "outside of stages";
// The name of the whole run of a program that names no stages.
inline constexpr char kWholeRun[] = "whole run";

struct ScaledStage {
  std::string name;
  StageBytes peak_bytes;
  StageBytes volume_bytes;
};

struct ScaledRun {
  std::string program;
  // One a variable, as they were written.
  std::vector<std::string> values;
  // Why there are no figures; empty: there are.
  std::string failure;
  StageBytes peak_bytes;
  StageBytes volume_bytes;
  StageBytes resident_bytes;
  std::vector<ScaledStage> stages;
};

struct ScaledRuns {
  std::vector<std::string> variables;
  std::vector<ScaledRun> runs;
};

// The program is called as in the profile, unless it is renamed.
// kInvalidArgument: a benchmark lacks one of the variables as an argument;
// kFailedPrecondition: the profile has a failure and no benchmarks. Both say
// which.
absl::Status AddProfile(const MemoryProfile& profile,
                        const std::string& renamed_program, ScaledRuns* runs);

// The run of a benchmark; values are the caller's.
ScaledRun MakeScaledRun(const BenchmarkMemory& memory);

// Which figure of a stage or a run.
enum class ScaledFigure { kPeak, kVolume };

// Returns the runs that have figures, for charts, each with all stages of any,
// 7 at most; smaller ones are "other stages". Programs are as in StageLaw, and
// labels the values of the variables that are numbers.
StagedRuns CollectStages(const ScaledRuns& runs, ScaledFigure figure);

struct StageLaw {
  // The program with the values of variables that are no numbers: "train
  // io=csv".
  std::string program;
  std::string stage;
  ScaledFigure figure = ScaledFigure::kPeak;
  // The law; not set if there are too few runs, or no law describes them.
  absl::optional<ScalingLaw> law;
};

// Returns the laws of each program's whole run, then of its stages.
std::vector<StageLaw> StageLaws(const ScaledRuns& runs);

// Indices of the variables whose values are numbers in all runs.
std::vector<size_t> NumericVariables(const ScaledRuns& runs);

// The values of those variables.
std::vector<double> FindNumbers(const ScaledRun& run,
                                const std::vector<size_t>& variables);

// The program, with the values of all other variables.
std::string SeriesName(const ScaledRuns& runs, const ScaledRun& run,
                       const std::vector<size_t>& numeric);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_SCALED_RUNS_H_

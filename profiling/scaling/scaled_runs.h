// The figures of programs that were measured over their variables: one run per
// cell, and the law by which each stage grows.
//
//   ScaledRuns runs = {{"features", "rows"}, {}};
//   absl::Status status = AddProfile(*profile, "", &runs);
//   for (const StageLaw& law : StageLaws(runs)) std::cout << law.stage;
//
// A run's stages are the outermost phases of its benchmark. The peak of a stage
// is the most it held above what was live before it; its volume is what it
// allocated, freed or not. Bytes are usable heap bytes. kOutside is an
// additional stage. For peaks, it has the bytes live when the first stage began
// (an interpreter, libraries) or, if the run's peak lies outside all stages and
// this is more, the bytes live then above what stages had left. For volumes, it
// has what no stage allocated.
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
  // One value per variable, as written.
  std::vector<std::string> values;
  // Why there are no figures; empty if there are.
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

// Adds a profile's benchmarks. The program's name is the benchmark's name up to
// the first slash, unless it is renamed. Returns kInvalidArgument if a
// benchmark lacks one of the variables as an argument; those before it are
// added. Returns kFailedPrecondition if the profile has no benchmarks. Both
// messages give the details.
absl::Status AddProfile(const MemoryProfile& profile,
                        const std::string& renamed_program, ScaledRuns* runs);

// Returns the run of a benchmark; the caller sets the values.
ScaledRun MakeScaledRun(const BenchmarkMemory& memory);

// A figure of a stage or a run.
enum class ScaledFigure { kPeak, kVolume };

// Returns the runs that have figures, for charts. Each has the stages of all
// runs. If there are more than 8, the 7 largest stay, kOutside always among
// them, and the others are merged into "other stages". Programs are named as in
// StageLaw, and labels are the values of numeric variables.
StagedRuns CollectStages(const ScaledRuns& runs, ScaledFigure figure);

struct StageLaw {
  // The program with the values of variables that are not numeric: "train
  // io=csv".
  std::string program;
  std::string stage;
  ScaledFigure figure = ScaledFigure::kPeak;
  // The law; not set if there are too few runs, or no law describes them.
  absl::optional<ScalingLaw> law;
};

// Returns the laws of each program's whole run, then of its stages.
std::vector<StageLaw> StageLaws(const ScaledRuns& runs);

// Returns the indices of the variables whose values are finite numbers of at
// least 0 in all runs.
std::vector<size_t> NumericVariables(const ScaledRuns& runs);

// Returns the run's values of the variables with these indices.
std::vector<double> FindNumbers(const ScaledRun& run,
                                const std::vector<size_t>& variables);

// Returns the program with the values of the variables that are not numeric.
std::string SeriesName(const ScaledRuns& runs, const ScaledRun& run,
                       const std::vector<size_t>& numeric);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCALING_SCALED_RUNS_H_

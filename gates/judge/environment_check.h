// Finds the benchmarks that only thresholds of other environments judge.
//
//   EnvironmentCheck check(profiles, sources, index, command);
//   check.NoteFile(source, profile);  // each file for its label
//   check.NoteForeign(benchmark, found, source, number);  // judged elsewhere
//   check.NoteKept(found, threshold);  // judged here
//   const std::set<BenchmarkKey> mismatched = check.Run(&verdict);
//
// Keeps references to its arguments, which must outlive it. Thread-compatible.
// Memory: about 100 bytes a note.

#ifndef FOOTPRINT_GATES_JUDGE_ENVIRONMENT_CHECK_H_
#define FOOTPRINT_GATES_JUDGE_ENVIRONMENT_CHECK_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether the thresholds may judge the profile: their file names no
// environment, or the profile's.
bool IsForEnvironment(const MemoryProfile& profile,
                      const ThresholdSource& thresholds);

// Index of a profile, and index of a benchmark in it.
using BenchmarkKey = std::pair<int, int>;

class EnvironmentCheck {
 public:
  EnvironmentCheck(absl::Span<const MemoryProfile> profiles,
                   absl::Span<const ThresholdSource> sources,
                   const MeasurementIndex& index, const UpdateCommand& command)
      : profiles_(profiles),
        sources_(sources),
        index_(index),
        command_(command),
        own_sources_(profiles.size()),
        foreign_sources_(profiles.size()),
        foreign_(profiles.size()) {}

  // Notes that a file has a threshold for the profile's label. Returns whether
  // the file may judge the profile.
  bool NoteFile(size_t source, int profile);

  // Notes a benchmark that a file for another environment names, and the
  // measurements that the file judges there.
  void NoteForeign(const BenchmarkKey& benchmark,
                   const std::vector<Measurement>& found, size_t source,
                   int number);

  // Notes that a threshold judges `found` here. Its file names an environment.
  void NoteKept(const Measurement& found, const Threshold& threshold);

  // Adds the problems to the verdict. Returns the benchmarks that they concern.
  // Must be called once, after all notes.
  std::set<BenchmarkKey> Run(Verdict* verdict);

 private:
  bool IsKeptHere(const MeasurementKey& key,
                  const RuledMeasurement& foreign) const;
  const ThresholdSource& FindNearestForeignSource(size_t profile) const;
  void AddMismatch(size_t profile, const std::string& what,
                   const ThresholdSource& elsewhere, const std::string& path,
                   Verdict* verdict) const;
  void CheckForeignMeasurements(size_t profile, Verdict* verdict);

  const absl::Span<const MemoryProfile> profiles_;
  const absl::Span<const ThresholdSource> sources_;
  const MeasurementIndex& index_;
  const UpdateCommand& command_;
  // For each profile, the files for its environment and the files for others.
  std::vector<std::vector<size_t>> own_sources_;
  std::vector<std::vector<size_t>> foreign_sources_;
  // For each profile, the measurements that files of other environments judge.
  std::vector<std::vector<RuledMeasurement>> foreign_;
  std::set<BenchmarkKey> foreign_benchmarks_;
  // Measurements that a file of the profile's own environment judges.
  std::map<MeasurementKey, std::vector<const Threshold*>> kept_here_;
  std::set<BenchmarkKey> mismatched_;
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_ENVIRONMENT_CHECK_H_

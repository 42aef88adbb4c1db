#include "footprint/profiling/measuring/measure_program.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/machine/machine_names.h"
#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/measuring/measurement_folder.h"
#include "footprint/profiling/measuring/run_failure.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/profile_merge.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

constexpr char kProfileName[] = "profile.binpb";
constexpr char kSamplesName[] = "samples.binpb";
// A prime, so that the padding never keeps an alignment to a power of two.
constexpr int kPaddingStepBytes = 1361;

absl::Status CheckDataName(const std::string& name) {
  const fs::path path(name);
  bool is_inside = path.is_relative() && !name.empty() && name.back() != '/';
  for (const fs::path& part : path) {
    is_inside = is_inside && part != ".." && part != ".";
  }
  if (!is_inside || name == kProfileName || name == kSamplesName ||
      *path.begin() == kFolderMarkerName) {
    return absl::InvalidArgumentError(
        absl::StrCat("data name '", name,
                     "' must be relative, stay inside the folder, and be "
                     "none of ",
                     kProfileName, ", ", kSamplesName));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ProgramName(const std::string& label) {
  return label.substr(label.find_last_of(":/") + 1);
}

absl::Status CheckMeasurement(const ProgramMeasurement& measurement,
                              int minimum_process_count) {
  if (measurement.label.rfind(':') == std::string::npos ||
      measurement.label.back() == ':') {
    return absl::InvalidArgumentError(absl::StrCat(
        "label '", measurement.label, "' must be like //package:target"));
  }
  if (measurement.process_count < minimum_process_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("process count ", measurement.process_count,
                     " must be at least ", minimum_process_count));
  }
  if (measurement.time_limit_seconds < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("time limit ", measurement.time_limit_seconds,
                     " must be at least 1 second"));
  }
  std::set<std::string> names;
  for (const DataFile& file : measurement.data) {
    absl::Status status = CheckDataName(file.name);
    if (!status.ok()) return status;
    if (!names.insert(file.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("data name '", file.name, "' is given twice"));
    }
  }
  return absl::OkStatus();
}

namespace {

// Describes the process of a program that is measured as it is.
FreshProcess DescribeUnderMemprof(const ProgramMeasurement& measurement,
                                  const std::string& memprof,
                                  const std::string& folder) {
  const std::string name = ProgramName(measurement.label);
  FreshProcess process;
  process.executable = memprof;
  process.arguments = {
      "memprof", measurement.has_sites ? "--sampling=0" : "--sampling=none",
      absl::StrCat("--proto=", kProfileName), "--", absl::StrCat("./", name)};
  process.environment = {
      "PATH=/usr/bin:/bin", "LANG=C", "TZ=UTC",
      absl::StrCat("RUNFILES_DIR=", folder, "/", name, ".runfiles")};
  process.environment.insert(process.environment.end(),
                             std::begin(kSteadyEnvironment),
                             std::end(kSteadyEnvironment));
  return process;
}

// Describes the process of a program that writes its profile by itself.
FreshProcess DescribeProducer(const ProgramMeasurement& measurement,
                              const std::string& executable, int index) {
  FreshProcess process;
  process.executable = executable;
  process.arguments = {
      measurement.label.substr(measurement.label.rfind(':') + 1),
      absl::StrCat("--memory_profile_out=", kProfileName),
      absl::StrCat("--memory_samples_out=", kSamplesName),
  };
  process.environment = {
      "PATH=/usr/bin:/bin",
      "LANG=C",
      "TZ=UTC",
      absl::StrCat("FOOTPRINT_PADDING=",
                   std::string(index * kPaddingStepBytes, 'x')),
  };
  return process;
}

FreshProcess Describe(const ProgramMeasurement& measurement,
                      const std::string& executable, const std::string& folder,
                      int index) {
  FreshProcess process =
      measurement.memprof.empty()
          ? DescribeProducer(measurement, executable, index)
          : DescribeUnderMemprof(measurement, executable, folder);
  process.arguments.insert(process.arguments.end(),
                           measurement.arguments.begin(),
                           measurement.arguments.end());
  process.working_folder = folder;
  process.time_limit_seconds = measurement.time_limit_seconds;
  process.is_address_space_randomized = index % 2 == 1;
  process.is_cancelled = measurement.is_cancelled;
  return process;
}

// Reads what the program left in its folder. Returns false, with `failure`, if
// that is not a valid measurement.
bool ReadMeasurement(const std::string& folder, MemoryMeasurement* measured,
                     ProducerFailure* failure) {
  absl::StatusOr<MemoryProfile> profile =
      ReadMemoryProfileFile(absl::StrCat(folder, "/", kProfileName));
  if (!profile.ok()) {
    const bool is_missing =
        profile.status().code() == absl::StatusCode::kNotFound;
    failure->set_kind(is_missing ? ProducerFailure::WROTE_NO_PROFILE
                                 : ProducerFailure::WROTE_BAD_PROFILE);
    failure->set_detail(is_missing ? "the program must write the file that "
                                     "--memory_profile_out= names; "
                                     "//profiling:benchmark_main does; a "
                                     "program that is to be measured as it "
                                     "is stands under `program`"
                                   : std::string(profile.status().message()));
    return false;
  }
  for (const BenchmarkMemory& benchmark : profile->benchmarks()) {
    if (!IsWholeProcessName(benchmark.name())) continue;
    failure->set_kind(ProducerFailure::WROTE_BAD_PROFILE);
    failure->set_detail(
        absl::StrCat("its benchmark \"", benchmark.name(),
                     "\" has a name that only the runner may give; rename it"));
    return false;
  }
  if (profile->has_failure()) *failure = profile->failure();
  measured->profile = *std::move(profile);
  if (measured->profile.benchmarks_size() == 0) return false;
  absl::StatusOr<MemorySamples> samples =
      ReadMemorySamplesFile(absl::StrCat(folder, "/", kSamplesName));
  if (samples.ok()) {
    measured->samples = *std::move(samples);
  } else if (samples.status().code() != absl::StatusCode::kNotFound) {
    failure->set_kind(ProducerFailure::WROTE_BAD_PROFILE);
    failure->set_detail(std::string(samples.status().message()));
    return false;
  }
  return true;
}

// Returns whether the exit status only repeats what the profile says: that some
// benchmarks failed.
bool NamesFailedBenchmarks(const ProcessEnd& end, const std::string& folder) {
  if (end.kind != ProcessEnd::Kind::kExited) return false;
  const absl::StatusOr<MemoryProfile> profile =
      ReadMemoryProfileFile(absl::StrCat(folder, "/", kProfileName));
  return profile.ok() &&
         profile->failure().kind() == ProducerFailure::BENCHMARKS_FAILED;
}

// Measures one process. Returns true if `measured` is set, possibly with a
// failure of some benchmarks; otherwise `failure` is set.
absl::StatusOr<bool> MeasureOnce(const ProgramMeasurement& measurement,
                                 int index, MemoryMeasurement* measured,
                                 ProducerFailure* failure) {
  const MeasurementFolder folder;
  if (folder.path().empty()) {
    return absl::InternalError(
        "cannot make a folder in /tmp; make room there or allow writing");
  }
  absl::Status status = LinkData(measurement.data, folder.path());
  if (!status.ok()) return status;
  const bool uses_memprof = !measurement.memprof.empty();
  if (uses_memprof) {
    status = CopyProgram(measurement.executable, ProgramName(measurement.label),
                         measurement.runfiles, folder.path());
  }
  if (!status.ok()) return status;
  const fs::path started =
      uses_memprof ? measurement.memprof : measurement.executable;
  std::error_code error;
  fs::path executable = fs::canonical(started, error);
  if (error) executable = fs::absolute(started, error);
  absl::StatusOr<ProcessEnd> end = RunFreshProcess(
      Describe(measurement, executable.string(), folder.path(), index));
  if (!end.ok()) return end.status();
  if (!end->is_layout_as_asked) {
    std::cerr << "profile_runner: this system forbids choosing the "
                 "address-space layout (personality); process "
              << index + 1 << " differs in its environment only\n";
  }
  bool is_measured = false;
  if (EndedWell(*end, measurement.time_limit_seconds, failure) ||
      NamesFailedBenchmarks(*end, folder.path())) {
    failure->Clear();
    is_measured = ReadMeasurement(folder.path(), measured, failure);
  }
  if (is_measured && !measured->profile.has_failure()) return true;
  MakeStable({folder.path(), executable.parent_path().string()}, *end, failure);
  if (is_measured) *measured->profile.mutable_failure() = *failure;
  return is_measured;
}

MemoryMeasurement FailureRecord(ProducerFailure failure) {
  MemoryMeasurement record;
  *record.profile.mutable_failure() = std::move(failure);
  return record;
}

// Keeps the benchmarks that are in `names`.
template <typename Benchmarks>
void KeepNamed(const std::set<std::string>& names, Benchmarks* benchmarks) {
  benchmarks->erase(std::remove_if(benchmarks->begin(), benchmarks->end(),
                                   [&names](const auto& benchmark) {
                                     return names.count(benchmark.name()) == 0;
                                   }),
                    benchmarks->end());
}

// If benchmarks failed in any process, keeps those that all processes measured,
// and the first process's report in `failure`.
bool SetAsideFailed(std::vector<MemoryMeasurement>* processes,
                    ProducerFailure* failure) {
  std::map<std::string, size_t> counts;
  bool has_failed = false;
  for (MemoryMeasurement& process : *processes) {
    for (const BenchmarkMemory& benchmark : process.profile.benchmarks()) {
      ++counts[benchmark.name()];
    }
    if (process.profile.has_failure() && !has_failed) {
      *failure = process.profile.failure();
      has_failed = true;
    }
    process.profile.clear_failure();
  }
  if (!has_failed) return false;
  std::set<std::string> everywhere;
  for (const auto& [name, count] : counts) {
    if (count == processes->size()) everywhere.insert(name);
  }
  for (MemoryMeasurement& process : *processes) {
    KeepNamed(everywhere, process.profile.mutable_benchmarks());
    KeepNamed(everywhere, process.samples.mutable_benchmarks());
  }
  return true;
}

// Adds how a program that is measured as it is was run.
void AddRemarks(MemoryProfile* profile) {
  Remark* const run = profile->add_remarks();
  run->set_about("memprof");
  run->set_text(absl::StrCat("run with ",
                             absl::StrJoin(kSteadyEnvironment, " "),
                             "; processes differ in the address-space layout"));
  Remark* const figures = profile->add_remarks();
  figures->set_about("memprof");
  figures->set_text(
      "a figure that is not EXACT is the highest of all processes, for limits; "
      "of a program's several processes, peaks are the largest one's");
}

absl::StatusOr<MemoryMeasurement> MeasureAndMerge(
    const ProgramMeasurement& measurement) {
  std::vector<MemoryMeasurement> processes(
      static_cast<size_t>(measurement.process_count));
  ProducerFailure failure;
  RemoveAbandonedFolders();
  for (int index = 0; index < measurement.process_count; ++index) {
    absl::StatusOr<bool> is_measured = MeasureOnce(
        measurement, index, &processes[static_cast<size_t>(index)], &failure);
    if (!is_measured.ok()) return is_measured.status();
    if (!*is_measured) return FailureRecord(failure);
  }
  const bool has_failed_benchmarks = SetAsideFailed(&processes, &failure);
  if (has_failed_benchmarks && processes[0].profile.benchmarks_size() == 0) {
    return FailureRecord(failure);
  }
  const bool uses_memprof = !measurement.memprof.empty();
  absl::StatusOr<MemoryMeasurement> merged =
      MergeProfiles(processes, uses_memprof ? Unrepeated::kKeepHighest
                                            : Unrepeated::kLeaveOut);
  if (merged.ok() && has_failed_benchmarks) {
    *merged->profile.mutable_failure() = std::move(failure);
  }
  if (merged.ok()) return merged;
  failure.Clear();
  failure.set_kind(ProducerFailure::DISAGREED);
  failure.set_detail(std::string(merged.status().message()));
  return FailureRecord(failure);
}

}  // namespace

absl::StatusOr<MemoryMeasurement> MeasureProgram(
    const ProgramMeasurement& measurement) {
  absl::Status status = CheckMeasurement(measurement, kMinimumProcessCount);
  if (!status.ok()) return status;
  absl::StatusOr<MemoryMeasurement> measured = MeasureAndMerge(measurement);
  if (!measured.ok()) return measured.status();
  measured->profile.set_schema_version(kMemoryProfileSchemaVersion);
  measured->profile.set_label(measurement.label);
  measured->profile.set_process_count(measurement.process_count);
  if (!measurement.memprof.empty()) AddRemarks(&measured->profile);
  measured->samples.set_schema_version(kMemoryProfileSchemaVersion);
  measured->samples.set_label(measurement.label);
  measured->samples.set_kernel(KernelName());
  measured->samples.set_cpu_model(ProcessorModel());
  return measured;
}

}  // namespace footprint

#include "footprint/profiling/measuring/measure_whole_process.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/machine/machine_names.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/measuring/measurement_folder.h"
#include "footprint/profiling/measuring/program_setting.h"
#include "footprint/profiling/measuring/run_failure.h"
#include "footprint/profiling/outside/paced_watch.h"
#include "footprint/profiling/outside/whole_process_watch.h"
#include "footprint/profiling/schema/benchmark_count.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// The time for processes that end by themselves after the program, such as
// helpers of interpreters.
constexpr int kOthersLimitSeconds = 5;
constexpr char kFailed[] =
    "the run without any flag of ours, whose whole process is measured: ";

// Figures of one run.
struct OutsideRun {
  WholeProcessPeak peak;
  int64_t group_bytes = 0;  // 0 if there was no group.
  std::string why_no_group;
  std::vector<std::string> survivors;  // The names of processes.
  int64_t benchmark_count = kUnknownBenchmarkCount;
};

FreshProcess Describe(const ProgramMeasurement& measurement,
                      const std::string& executable,
                      const std::string& folder) {
  FreshProcess process;
  if (measurement.is_copied) {
    const ProgramSetting setting = DescribeSetting(measurement, folder);
    process.executable = setting.executable;
    process.arguments = {setting.name};
    process.environment = setting.environment;
    process.working_folder = setting.working_folder;
  } else {
    process.executable = executable;
    process.arguments = {ProgramName(measurement.label)};
    process.environment = {"PATH=/usr/bin:/bin", "LANG=C", "TZ=UTC"};
    AddVariables(measurement.environment, &process.environment);
    process.working_folder = folder;
  }
  process.arguments.insert(process.arguments.end(),
                           measurement.arguments.begin(),
                           measurement.arguments.end());
  process.time_limit_seconds = measurement.time_limit_seconds;
  process.others_limit_seconds = kOthersLimitSeconds;
  process.is_cancelled = measurement.is_cancelled;
  return process;
}

absl::Status Prepare(const ProgramMeasurement& measurement,
                     const std::string& folder) {
  if (folder.empty()) {
    return absl::InternalError(
        "cannot make a folder in /tmp; make room there or allow writing");
  }
  const absl::Status status = LinkData(measurement.data, folder);
  if (!status.ok() || !measurement.is_copied) return status;
  return PrepareProgram(measurement, folder);
}

// Returns false, with `failure`, if no benchmark ran, so that nothing was
// measured.
bool RanBenchmarks(const ProgramMeasurement& measurement, const OutsideRun& run,
                   ProducerFailure* failure) {
  if (run.benchmark_count != 0) return true;
  failure->set_kind(ProducerFailure::BENCHMARKS_FAILED);
  failure->set_detail(EscapeForProto(absl::StrCat(
      kFailed, "no benchmark ran with the arguments ",
      absl::StrJoin(measurement.arguments, " "),
      "; correct args and whole_process_args of the memory_profile target")));
  return false;
}

// Makes one run. Returns true if `run` is set; otherwise `failure` is set.
absl::StatusOr<bool> RunOnce(const ProgramMeasurement& measurement,
                             OutsideRun* run, ProducerFailure* failure) {
  const MeasurementFolder folder;
  const absl::Status prepared = Prepare(measurement, folder.path());
  if (!prepared.ok()) return prepared;
  std::error_code error;
  fs::path executable = fs::canonical(measurement.executable, error);
  if (error) executable = fs::absolute(measurement.executable, error);
  FreshProcess process =
      Describe(measurement, executable.string(), folder.path());
  const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
  if (group.ok()) {
    process.group_entrance = group->processes_descriptor();
  } else {
    run->why_no_group = std::string(group.status().message());
  }
  PacedWatch watch(group.ok() ? &*group : nullptr);
  process.look = [&watch] { watch.Look(); };
  const absl::StatusOr<ProcessEnd> end = RunFreshProcess(process);
  if (!end.ok()) return end.status();
  run->benchmark_count = ReadBenchmarkCount(end->standard_error_tail);
  run->survivors = end->survivors;
  const bool ended_well =
      EndedWell(*end, measurement.time_limit_seconds, failure);
  if (!ended_well) {
    failure->set_detail(absl::StrCat(kFailed, failure->detail()));
  }
  if (!ended_well || !RanBenchmarks(measurement, *run, failure)) {
    MakeStable({folder.path(), executable.parent_path().string()}, *end,
               failure);
    return false;
  }
  watch.watch().NoteEnded(end->peak_resident_bytes);
  watch.watch().LookAtGroup();
  run->peak = watch.watch().peak();
  if (group.ok()) run->group_bytes = group->peak_bytes();
  return true;
}

template <typename Measured>
void AddFigure(MetricKind kind, int64_t value, Measured* measured) {
  Metric* const metric = measured->add_metrics();
  metric->set_kind(kind);
  metric->set_determinism(STATISTICAL);
  metric->set_value(value);
}

void AddSample(MetricKind kind, const char* phase,
               const std::vector<int64_t>& values, SampledBenchmark* sampled) {
  SampledMetric* const metric = sampled->add_metrics();
  metric->set_kind(kind);
  metric->set_phase(phase);
  for (int64_t value : values) metric->add_values(value);
}

// Adds the highest of `values` to the profile, and each to the samples.
template <typename Measured>
void AddFigures(MetricKind kind, const char* phase,
                const std::vector<int64_t>& values, Measured* measured,
                SampledBenchmark* sampled) {
  AddFigure(kind, *std::max_element(values.begin(), values.end()), measured);
  AddSample(kind, phase, values, sampled);
}

void AddRemark(const std::string& text, MemoryProfile* profile) {
  Remark* const remark = profile->add_remarks();
  remark->set_about("whole process");
  // Names of processes and arguments may be any bytes.
  remark->set_text(EscapeForProto(text));
}

// Adds the parts of the run that needed most, and the difference of their sum
// to the figure, without its sign.
void AddParts(const WholeProcessPeak& peak, MemoryProfile* profile) {
  const WholeProcessParts& parts = peak.parts;
  const std::pair<const char*, int64_t> named[] = {
      {kHeapAndMappingsPart, parts.heap_and_mapping_bytes},
      {kStacksPart, parts.stack_bytes},
      {kImagePart, parts.image_bytes},
      {kFilesPart, parts.file_bytes + parts.other_bytes},
      {kSharedPart, parts.shared_bytes},
      {kKernelPart, parts.kernel_bytes},
      {kOtherProcessesPart, parts.other_process_bytes},
      {kUnexplainedPart, std::abs(peak.unexplained_bytes())},
  };
  for (const auto& [name, bytes] : named) {
    Phase* const phase = profile->mutable_benchmarks(0)->add_phases();
    phase->set_name(name);
    phase->set_parent(-1);
    AddFigure(PEAK_RESIDENT_BYTES, bytes, phase);
  }
  if (std::abs(peak.unexplained_bytes()) > peak.resident_bytes / 1000) {
    AddRemark(
        "the parts differ from the resident peak by more than a thousandth: "
        "memory changed between two samples",
        profile);
  }
}

// Adds a phase and a remark, if processes outlived the program in any run.
void AddSurvivors(const std::vector<OutsideRun>& runs, MemoryProfile* profile) {
  const auto outlived = std::find_if(
      runs.begin(), runs.end(),
      [](const OutsideRun& run) { return !run.survivors.empty(); });
  if (outlived == runs.end()) return;
  Phase* const phase = profile->mutable_benchmarks(0)->add_phases();
  phase->set_name(kOutlivedPhase);
  phase->set_parent(-1);
  AddFigure(PEAK_RESIDENT_BYTES, outlived->peak.resident_bytes, phase);
  AddRemark(absl::StrCat("still ran ", kOthersLimitSeconds,
                         " seconds after the program had ended, and were "
                         "killed: ",
                         absl::StrJoin(outlived->survivors, ", ")),
            profile);
}

// Adds the arguments of the runs, and how many benchmarks they ran.
void AddArguments(const ProgramMeasurement& measurement, const OutsideRun& run,
                  MemoryProfile* profile) {
  if (measurement.arguments.empty()) return;
  std::string text = absl::StrCat("measured with the arguments ",
                                  absl::StrJoin(measurement.arguments, " "));
  if (run.benchmark_count > 0) {
    absl::StrAppend(&text, "; benchmarks that ran: ", run.benchmark_count);
  }
  AddRemark(text, profile);
}

MemoryMeasurement Combine(const std::vector<OutsideRun>& runs,
                          const std::string& name) {
  MemoryMeasurement measured;
  BenchmarkMemory* const benchmark = measured.profile.add_benchmarks();
  benchmark->set_name(WholeProcessName(name));
  SampledBenchmark* const sampled = measured.samples.add_benchmarks();
  sampled->set_name(benchmark->name());
  std::vector<int64_t> resident;
  std::vector<int64_t> anonymous;
  std::vector<int64_t> file;
  std::vector<int64_t> group;
  for (const OutsideRun& run : runs) {
    resident.push_back(run.peak.resident_bytes);
    anonymous.push_back(run.peak.anonymous_bytes);
    file.push_back(run.peak.file_bytes);
    if (run.group_bytes > 0) group.push_back(run.group_bytes);
  }
  // Adds the figures of all runs, then the parts of the highest run.
  AddFigures(PEAK_RESIDENT_BYTES, "", resident, benchmark, sampled);
  AddFigures(RESIDENT_ANONYMOUS_BYTES, "", anonymous, benchmark, sampled);
  AddFigures(RESIDENT_FILE_BYTES, "", file, benchmark, sampled);
  const WholeProcessPeak& highest =
      std::max_element(runs.begin(), runs.end(),
                       [](const OutsideRun& a, const OutsideRun& b) {
                         return a.peak.resident_bytes < b.peak.resident_bytes;
                       })
          ->peak;
  AddParts(highest, &measured.profile);
  Phase* const untouched = benchmark->add_phases();
  untouched->set_name(kUntouchedPhase);
  untouched->set_parent(-1);
  AddFigure(PEAK_MAPPED_BYTES, highest.untouched_bytes, untouched);
  AddSurvivors(runs, &measured.profile);
  // The control group's figure counts only if each run has one.
  if (group.size() == runs.size()) {
    Phase* const phase = benchmark->add_phases();
    phase->set_name(kControlGroupPhase);
    phase->set_parent(-1);
    AddFigures(PEAK_RESIDENT_BYTES, kControlGroupPhase, group, phase, sampled);
  } else {
    const OutsideRun& without = *std::find_if(
        runs.begin(), runs.end(),
        [](const OutsideRun& run) { return run.group_bytes <= 0; });
    AddRemark(absl::StrCat("no control group: ",
                           without.why_no_group.empty()
                               ? "this kernel keeps no peak of one"
                               : without.why_no_group),
              &measured.profile);
  }
  return measured;
}

}  // namespace

absl::StatusOr<MemoryMeasurement> MeasureWholeProcess(
    const ProgramMeasurement& measurement, const std::string& name) {
  // The kernel's high-water mark misses nothing, so one run is enough.
  const absl::Status status = CheckMeasurement(measurement, 1);
  if (!status.ok()) return status;
  RemoveAbandonedFolders();
  std::vector<OutsideRun> runs(static_cast<size_t>(measurement.process_count));
  MemoryMeasurement measured;
  ProducerFailure failure;
  bool is_measured = true;
  for (size_t i = 0; i < runs.size() && is_measured; ++i) {
    const absl::StatusOr<bool> ran = RunOnce(measurement, &runs[i], &failure);
    if (!ran.ok()) return ran.status();
    is_measured = *ran;
  }
  if (is_measured) {
    measured = Combine(runs, name);
    AddArguments(measurement, runs.front(), &measured.profile);
  } else {
    *measured.profile.mutable_failure() = std::move(failure);
  }
  measured.profile.set_schema_version(kMemoryProfileSchemaVersion);
  measured.profile.set_label(measurement.label);
  measured.profile.set_process_count(measurement.process_count);
  measured.samples.set_schema_version(kMemoryProfileSchemaVersion);
  measured.samples.set_label(measurement.label);
  measured.samples.set_kernel(KernelName());
  measured.samples.set_cpu_model(ProcessorModel());
  return measured;
}

}  // namespace footprint

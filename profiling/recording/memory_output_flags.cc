#include "footprint/profiling/recording/memory_output_flags.h"

#include <errno.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/text/take_flags.h"
#include "footprint/profiling/recording/memory_environment.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

// The process that runs main; a forked child has another ID.
const pid_t measured_process = getpid();

absl::Status SetPath(absl::string_view flag, absl::string_view value,
                     std::string* path) {
  if (value.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " names no file; write ", flag,
                     "=FILE, or leave it out to measure nothing"));
  }
  *path = std::string(value);
  return absl::OkStatus();
}

SampledMetric* AddSample(const Metric& metric, const std::string& phase,
                         SampledBenchmark* benchmark) {
  SampledMetric* sample = benchmark->add_metrics();
  sample->set_kind(metric.kind());
  sample->set_phase(phase);
  sample->add_values(metric.value());
  return sample;
}

MemorySamples ToSamples(const MemoryProfile& profile) {
  MemorySamples samples;
  samples.set_label(profile.label());
  *samples.mutable_environment() = profile.environment();
  for (const BenchmarkMemory& memory : profile.benchmarks()) {
    SampledBenchmark* benchmark = samples.add_benchmarks();
    benchmark->set_name(memory.name());
    for (const Metric& metric : memory.metrics()) {
      AddSample(metric, "", benchmark);
    }
    for (const Phase& phase : memory.phases()) {
      for (const Metric& metric : phase.metrics()) {
        AddSample(metric, phase.name(), benchmark);
      }
    }
  }
  return samples;
}

}  // namespace

const char kMemoryOutputFlagsHelp[] =
    "  --memory_profile_out=FILE  measure memory and write a "
    "footprint.MemoryProfile\n"
    "  --memory_samples_out=FILE  also write every metric as a "
    "footprint.MemorySamples\n";

absl::StatusOr<MemoryOutputs> TakeMemoryOutputFlags(int* argc, char** argv) {
  constexpr absl::string_view kProfile = "--memory_profile_out";
  constexpr absl::string_view kSamples = "--memory_samples_out";
  MemoryOutputs outputs;
  const absl::Status status =
      TakeFlags(argc, argv,
                {{kProfile,
                  [&](absl::string_view value) {
                    return SetPath(kProfile, value, &outputs.profile_path);
                  }},
                 {kSamples, [&](absl::string_view value) {
                    return SetPath(kSamples, value, &outputs.samples_path);
                  }}});
  if (!status.ok()) return status;
  if (!outputs.profile_path.empty() &&
      IsSameFile(outputs.profile_path, outputs.samples_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(kProfile, " and ", kSamples, " both name ",
                     outputs.profile_path, "; one would overwrite the other"));
  }
  return outputs;
}

absl::Status WriteMemoryOutputs(MemoryProfile profile,
                                const MemoryOutputs& outputs) {
  if (getpid() != measured_process) return absl::OkStatus();
  profile.set_label(program_invocation_short_name);
  profile.set_process_count(1);
  *profile.mutable_environment() = CurrentEnvironment();
  if (!outputs.profile_path.empty()) {
    const absl::Status status =
        WriteMemoryProfileFile(profile, outputs.profile_path);
    if (!status.ok()) return status;
  }
  if (outputs.samples_path.empty()) return absl::OkStatus();
  return WriteMemorySamplesFile(ToSamples(profile), outputs.samples_path);
}

}  // namespace footprint

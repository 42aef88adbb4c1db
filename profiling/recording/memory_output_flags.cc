#include "footprint/profiling/recording/memory_output_flags.h"

#include <errno.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/recording/memory_environment.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

// The process that runs main: a child of fork has another number.
const pid_t measured_process = getpid();

// Takes "--name=value" or "--name value" at `index`; returns how many words.
// A value that is not there counts as empty.
int TakeFlag(const char* name, int argc, char** argv, int index,
             std::string* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argv[index], name, length) != 0) return 0;
  if (argv[index][length] == '=') {
    *value = argv[index] + length + 1;
    return 1;
  }
  if (argv[index][length] != '\0') return 0;
  const bool has_value = index + 1 < argc;
  *value = has_value ? argv[index + 1] : "";
  return has_value ? 2 : 1;
}

// Takes one of the two flags at `index`, if one is there, and says how many
// words it had.
absl::StatusOr<int> TakeEitherFlag(int argc, char** argv, int index,
                                   MemoryOutputs* outputs) {
  const struct {
    const char* name;
    std::string* path;
  } flags[] = {{"--memory_profile_out", &outputs->profile_path},
               {"--memory_samples_out", &outputs->samples_path}};
  for (const auto& flag : flags) {
    const int taken = TakeFlag(flag.name, argc, argv, index, flag.path);
    if (taken == 0) continue;
    if (!flag.path->empty()) return taken;
    return absl::InvalidArgumentError(
        absl::StrCat(flag.name, " names no file; write ", flag.name,
                     "=FILE, or leave it out to measure nothing"));
  }
  return 0;
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
  MemoryOutputs outputs;
  int kept = 1;
  for (int i = 1; i < *argc;) {
    if (std::strcmp(argv[i], "--") == 0) {
      while (i < *argc) argv[kept++] = argv[i++];
      break;
    }
    const absl::StatusOr<int> taken = TakeEitherFlag(*argc, argv, i, &outputs);
    if (!taken.ok()) return taken.status();
    if (*taken == 0) {
      argv[kept++] = argv[i++];
    } else {
      i += *taken;
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
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

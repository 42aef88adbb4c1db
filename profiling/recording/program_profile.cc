#include "footprint/profiling/recording/program_profile.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/process_memory.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/profiling/recording/profile_metrics.h"

namespace footprint {

ProgramProfile::ProgramProfile(int* argc, char** argv)
    : name_(program_invocation_short_name) {
  absl::StatusOr<MemoryOutputs> outputs = TakeMemoryOutputFlags(argc, argv);
  flags_ = outputs.status();
  if (outputs.ok()) outputs_ = *std::move(outputs);
  startup_ = ReadHeapPhase(ProcessHeapPhase());
  if (IsWanted()) RecordMemoryPhases();
}

void ProgramProfile::SetName(absl::string_view name) {
  name_ = std::string(name);
}

void ProgramProfile::AddArgument(absl::string_view name,
                                 absl::string_view value) {
  Argument* argument = memory_.add_arguments();
  argument->set_name(std::string(name));
  argument->set_value(std::string(value));
}

bool ProgramProfile::IsWanted() const {
  return !outputs_.profile_path.empty() || !outputs_.samples_path.empty();
}

absl::Status ProgramProfile::Write() {
  if (!flags_.ok()) return flags_;
  if (!IsWanted()) return absl::OkStatus();
  if (!HeapIsAccounted()) {
    return absl::FailedPreconditionError(
        "this program's allocations are not counted; link it with malloc = "
        "\"//profiling:exact_heap\"");
  }
  const HeapPhaseBytes run = ReadHeapPhase(ProcessHeapPhase());
  const std::string fault = MemoryPhasesFault();
  if (!fault.empty()) return absl::FailedPreconditionError(fault);
  for (const Argument& argument : memory_.arguments()) {
    absl::StrAppend(&name_, "/", argument.name(), ":", argument.value());
  }
  memory_.set_name(name_);
  AddHeapMetrics(run, memory_.mutable_metrics());
  AddImageMetrics(memory_.mutable_metrics());
  AddProcessMetrics(memory_.mutable_metrics());
  Phase* startup = memory_.add_phases();
  startup->set_name("startup");
  startup->set_parent(-1);
  AddHeapMetrics(startup_, startup->mutable_metrics());
  AddImageMetrics(startup->mutable_metrics());
  AddRecordedPhases(/*parent=*/-1, memory_.mutable_phases());
  AttributePeakToPhases(&memory_);
  memory_.set_forked_process_count(
      std::max(CountedForks(), HasHadChildProcess() ? 1 : 0));
  MemoryProfile profile;
  *profile.add_benchmarks() = std::move(memory_);
  return WriteMemoryOutputs(std::move(profile), outputs_);
}

}  // namespace footprint

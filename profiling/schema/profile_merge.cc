#include "footprint/profiling/schema/profile_merge.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "google/protobuf/descriptor.h"

namespace footprint {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::RepeatedField;
using ::google::protobuf::RepeatedPtrField;

using Metrics = RepeatedPtrField<Metric>;
using KindList = RepeatedField<int>;

// One phase, or the whole benchmark, in every process: its metrics, and where
// the results go.
struct MeasuredPhase {
  std::string phase;                    // Empty for the whole benchmark.
  std::vector<const Metrics*> sources;  // One for each process.
  Metrics* exact;
  KindList* unrepeated;
  KindList* order_dependent;
  SampledBenchmark* samples;
  Unrepeated policy;
};

// Returns OK, or "process 2 has X = 'b' where process 1 has 'a'".
absl::Status CompareFact(const std::string& what, const std::string& first,
                         const std::string& other, size_t process) {
  if (first == other) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("process ", process + 1, " has ", what, " \"", other,
                   "\" where process 1 has \"", first, "\""));
}

absl::Status CompareEnvironments(const Environment& first,
                                 const Environment& other, size_t process) {
  const auto text = [](const Environment& environment,
                       const FieldDescriptor* field) -> std::string {
    const auto* reflection = environment.GetReflection();
    return field->cpp_type() == FieldDescriptor::CPPTYPE_STRING
               ? reflection->GetString(environment, field)
               : absl::StrCat(reflection->GetInt64(environment, field));
  };
  for (int i = 0; i < Environment::descriptor()->field_count(); ++i) {
    const FieldDescriptor* field = Environment::descriptor()->field(i);
    absl::Status status = CompareFact(
        absl::StrCat("the environment's ", std::string(field->name())),
        text(first, field), text(other, field), process);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the name in quotes and escaped, so that no two lists of names look
// alike.
std::string Quoted(const std::string& name) {
  return absl::StrCat("'", absl::CEscape(name), "'");
}

std::string ArgumentsText(const BenchmarkMemory& benchmark) {
  std::string text;
  for (const Argument& argument : benchmark.arguments()) {
    absl::StrAppend(&text, Quoted(argument.name()), ":",
                    Quoted(argument.value()), " ");
  }
  return text;
}

std::string PhasesText(const BenchmarkMemory& benchmark) {
  std::string text;
  for (const Phase& phase : benchmark.phases()) {
    absl::StrAppend(&text, Quoted(phase.name()), " in ", phase.parent(), " ");
  }
  return text;
}

std::string KindsText(const Metrics& metrics) {
  std::vector<int> kinds;
  for (const Metric& metric : metrics) kinds.push_back(metric.kind());
  std::sort(kinds.begin(), kinds.end());
  std::string text;
  for (int kind : kinds) {
    absl::StrAppend(&text, MetricKind_Name(static_cast<MetricKind>(kind)), " ");
  }
  return text;
}

std::string NotesText(const MemoryProfile& profile) {
  std::string text;
  for (const Remark& remark : profile.remarks()) {
    absl::StrAppend(&text, Quoted(remark.about()), ":", Quoted(remark.text()),
                    " ");
  }
  return text;
}

std::string BenchmarkNamesText(const MemoryProfile& profile) {
  std::string text;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    absl::StrAppend(&text, Quoted(benchmark.name()), " ");
  }
  return text;
}

// Checks that both did the same work, whatever the values are.
absl::Status CompareBenchmarks(const BenchmarkMemory& first,
                               const BenchmarkMemory& other, size_t process) {
  const std::string of = absl::StrCat("of ", first.name());
  struct Fact {
    std::string what;
    std::string first;
    std::string other;
  };
  std::vector<Fact> facts = {
      {"arguments " + of, ArgumentsText(first), ArgumentsText(other)},
      {"phases " + of, PhasesText(first), PhasesText(other)},
      {"metrics " + of, KindsText(first.metrics()), KindsText(other.metrics())},
      {"child processes " + of, absl::StrCat(first.forked_process_count()),
       absl::StrCat(other.forked_process_count())},
  };
  const int phases = std::min(first.phases_size(), other.phases_size());
  for (int i = 0; i < phases; ++i) {
    facts.push_back(
        {absl::StrCat("metrics of phase ", first.phases(i).name(), " ", of),
         KindsText(first.phases(i).metrics()),
         KindsText(other.phases(i).metrics())});
  }
  for (const Fact& fact : facts) {
    absl::Status status =
        CompareFact(fact.what, fact.first, fact.other, process);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CompareProfiles(const MemoryProfile& first,
                             const MemoryProfile& other, size_t process) {
  absl::Status status =
      CompareFact("label", first.label(), other.label(), process);
  if (!status.ok()) return status;
  status =
      CompareEnvironments(first.environment(), other.environment(), process);
  if (!status.ok()) return status;
  status = CompareFact("benchmarks", BenchmarkNamesText(first),
                       BenchmarkNamesText(other), process);
  if (!status.ok()) return status;
  status = CompareFact("remarks", NotesText(first), NotesText(other), process);
  if (!status.ok()) return status;
  for (int i = 0; i < first.benchmarks_size(); ++i) {
    status =
        CompareBenchmarks(first.benchmarks(i), other.benchmarks(i), process);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the entry of `samples` for a metric, and adds it if there is none.
SampledMetric* FindOrAdd(MetricKind kind, const std::string& phase,
                         SampledBenchmark* samples) {
  for (SampledMetric& metric : *samples->mutable_metrics()) {
    if (metric.kind() == kind && metric.phase() == phase) return &metric;
  }
  SampledMetric* metric = samples->add_metrics();
  metric->set_kind(kind);
  metric->set_phase(phase);
  return metric;
}

void SortMetric(MetricKind kind, const MeasuredPhase& measured) {
  const int64_t value = FindMetric(*measured.sources[0], kind)->value();
  // The weakest claim of any producer; the enumerators grow weaker.
  Determinism weakest = EXACT;
  bool is_repeated = true;
  int64_t highest = value;
  for (const Metrics* source : measured.sources) {
    const Metric& metric = *FindMetric(*source, kind);
    weakest = std::max(weakest, metric.determinism());
    is_repeated = is_repeated && metric.value() == value;
    highest = std::max(highest, metric.value());
  }
  if (weakest == EXACT && is_repeated) {
    Metric* metric = measured.exact->Add();
    metric->set_kind(kind);
    metric->set_determinism(EXACT);
    metric->set_value(value);
    return;
  }
  if (measured.policy == Unrepeated::kKeepHighest) {
    Metric* metric = measured.exact->Add();
    metric->set_kind(kind);
    metric->set_determinism(is_repeated ? weakest : STATISTICAL);
    metric->set_value(highest);
  } else {
    if (weakest != STATISTICAL) measured.unrepeated->Add(kind);
    if (weakest == BOUNDED) measured.order_dependent->Add(kind);
  }
  SampledMetric* sampled = FindOrAdd(kind, measured.phase, measured.samples);
  sampled->clear_values();
  for (const Metrics* source : measured.sources) {
    sampled->add_values(FindMetric(*source, kind)->value());
  }
}

void SortMetrics(const MeasuredPhase& measured) {
  for (const Metric& metric : *measured.sources[0]) {
    SortMetric(metric.kind(), measured);
  }
}

using Attributions = google::protobuf::RepeatedPtrField<Attribution>;

// Merges what held the bytes of a peak. It is left out unless all processes
// agree on it and on the peak: the attribution of a peak that varies may repeat
// by chance.
void MergeAttribution(const std::vector<MemoryMeasurement>& processes,
                      int index, MetricKind peak_kind,
                      const Attributions& (BenchmarkMemory::*attribution)()
                          const,
                      const BenchmarkMemory& merged,
                      Attributions* merged_attribution) {
  const Metric* const peak = FindMetric(merged.metrics(), peak_kind);
  const bool does_peak_vary =
      peak != nullptr
          ? peak->determinism() != EXACT
          : std::count(merged.unrepeated().begin(), merged.unrepeated().end(),
                       static_cast<int>(peak_kind)) > 0;
  if (does_peak_vary) return;
  const auto bytes_of = [&](const MemoryMeasurement& process) {
    BenchmarkMemory only;
    *only.mutable_peak_attribution() =
        (process.profile.benchmarks(index).*attribution)();
    return only.SerializeAsString();
  };
  const std::string first = bytes_of(processes[0]);
  for (const MemoryMeasurement& process : processes) {
    if (bytes_of(process) != first) return;
  }
  *merged_attribution = (processes[0].profile.benchmarks(index).*attribution)();
}

void MergeBenchmark(const std::vector<MemoryMeasurement>& processes, int index,
                    Unrepeated policy, BenchmarkMemory* merged,
                    SampledBenchmark* samples) {
  // Merges the figures of the whole benchmark.
  const BenchmarkMemory& first = processes[0].profile.benchmarks(index);
  merged->set_name(first.name());
  *merged->mutable_arguments() = first.arguments();
  merged->set_forked_process_count(first.forked_process_count());
  MeasuredPhase whole = {"",
                         {},
                         merged->mutable_metrics(),
                         merged->mutable_unrepeated(),
                         merged->mutable_order_dependent(),
                         samples,
                         policy};
  for (const MemoryMeasurement& process : processes) {
    whole.sources.push_back(&process.profile.benchmarks(index).metrics());
  }
  SortMetrics(whole);
  MergeAttribution(processes, index, PEAK_LIVE_USABLE_BYTES,
                   &BenchmarkMemory::peak_attribution, *merged,
                   merged->mutable_peak_attribution());
  MergeAttribution(processes, index, PEAK_MAPPED_BYTES,
                   &BenchmarkMemory::mapped_attribution, *merged,
                   merged->mutable_mapped_attribution());
  // Merges the figures of each phase.
  for (int i = 0; i < first.phases_size(); ++i) {
    Phase* phase = merged->add_phases();
    phase->set_name(first.phases(i).name());
    phase->set_parent(first.phases(i).parent());
    MeasuredPhase measured = {phase->name(),
                              {},
                              phase->mutable_metrics(),
                              phase->mutable_unrepeated(),
                              phase->mutable_order_dependent(),
                              samples,
                              policy};
    for (const MemoryMeasurement& process : processes) {
      measured.sources.push_back(
          &process.profile.benchmarks(index).phases(i).metrics());
    }
    SortMetrics(measured);
  }
}

// Returns in words which metrics a process sampled, and how often.
std::string SampledText(const MemorySamples& samples) {
  std::string text;
  for (const SampledBenchmark& benchmark : samples.benchmarks()) {
    absl::StrAppend(&text, Quoted(benchmark.name()), ": ");
    for (const SampledMetric& metric : benchmark.metrics()) {
      absl::StrAppend(&text, Quoted(metric.phase()), "/",
                      MetricKind_Name(metric.kind()), " x ",
                      metric.values_size(), ", ");
    }
  }
  return text;
}

// Merges the producers' samples value by value.
absl::Status MergeSamples(const std::vector<MemoryMeasurement>& processes,
                          MemorySamples* merged) {
  *merged = processes[0].samples;
  for (size_t process = 1; process < processes.size(); ++process) {
    const MemorySamples& other = processes[process].samples;
    absl::Status status =
        CompareFact("samples", SampledText(processes[0].samples),
                    SampledText(other), process);
    if (!status.ok()) return status;
    for (int i = 0; i < other.benchmarks_size(); ++i) {
      for (int j = 0; j < other.benchmarks(i).metrics_size(); ++j) {
        merged->mutable_benchmarks(i)
            ->mutable_metrics(j)
            ->mutable_values()
            ->MergeFrom(other.benchmarks(i).metrics(j).values());
      }
    }
  }
  return absl::OkStatus();
}

SampledBenchmark* FindOrAddBenchmark(const std::string& name,
                                     MemorySamples* samples) {
  for (SampledBenchmark& benchmark : *samples->mutable_benchmarks()) {
    if (benchmark.name() == name) return &benchmark;
  }
  SampledBenchmark* benchmark = samples->add_benchmarks();
  benchmark->set_name(name);
  return benchmark;
}

absl::Status CheckCountAndKind(
    const std::vector<MemoryMeasurement>& processes) {
  if (processes.size() < static_cast<size_t>(kMinimumProcessCount)) {
    return absl::InvalidArgumentError(
        absl::StrCat(processes.size(),
                     " processes cannot show that a value "
                     "repeats; measure in at least ",
                     kMinimumProcessCount));
  }
  for (const MemoryMeasurement& process : processes) {
    if (process.profile.has_failure()) {
      return absl::InvalidArgumentError(
          "a process without a measurement cannot be merged");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemoryMeasurement> MergeProfiles(
    const std::vector<MemoryMeasurement>& processes, Unrepeated unrepeated) {
  absl::Status status = CheckCountAndKind(processes);
  if (!status.ok()) return status;
  const MemoryProfile& first = processes[0].profile;
  for (size_t process = 1; process < processes.size(); ++process) {
    status = CompareProfiles(first, processes[process].profile, process);
    if (!status.ok()) return status;
  }
  MemoryMeasurement merged;
  status = MergeSamples(processes, &merged.samples);
  if (!status.ok()) return status;
  merged.profile.set_schema_version(first.schema_version());
  merged.profile.set_label(first.label());
  *merged.profile.mutable_environment() = first.environment();
  *merged.profile.mutable_remarks() = first.remarks();
  merged.profile.set_process_count(static_cast<int>(processes.size()));
  merged.samples.set_schema_version(first.schema_version());
  merged.samples.set_label(first.label());
  *merged.samples.mutable_environment() = first.environment();
  for (int i = 0; i < first.benchmarks_size(); ++i) {
    MergeBenchmark(
        processes, i, unrepeated, merged.profile.add_benchmarks(),
        FindOrAddBenchmark(first.benchmarks(i).name(), &merged.samples));
  }
  return merged;
}

}  // namespace footprint

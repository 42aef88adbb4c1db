#include "footprint/gates/trials/explain_records.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/memprof/make_measured_run.h"
#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/reports/memory_profile_report.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr int kMostSites = 20;
constexpr char kBundlePrefix[] = "/bundle/";
// The most entries of a profile, so that it stays within the limits of
// checked_explanation.h.
constexpr int kMostAttributions = 1000;
constexpr int kMostPhases = 1000;

const Metric* Find(const google::protobuf::RepeatedPtrField<Metric>& metrics,
                   MetricKind kind) {
  for (const Metric& each : metrics) {
    if (each.kind() == kind) return &each;
  }
  return nullptr;
}

// Returns the innermost of the stages in which the heap was at its peak.
std::string StageOfPeak(const BenchmarkMemory& benchmark) {
  const Metric* const peak =
      Find(benchmark.metrics(), PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  std::string stage;
  for (const Phase& phase : benchmark.phases()) {
    const Metric* const own =
        Find(phase.metrics(), PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
    if (peak != nullptr && own != nullptr && own->value() == peak->value()) {
      stage = phase.name();
    }
  }
  return stage;
}

// Merges the last sites into one, so that the sum stays.
void CutAttributions(BenchmarkMemory* benchmark) {
  auto* const sites = benchmark->mutable_peak_attribution();
  if (sites->size() <= kMostAttributions) return;
  int64_t rest_bytes = 0;
  for (int i = kMostAttributions - 1; i < sites->size(); ++i) {
    rest_bytes += sites->Get(i).live_bytes();
  }
  sites->DeleteSubrange(kMostAttributions - 1,
                        sites->size() - kMostAttributions + 1);
  Attribution* const rest = benchmark->add_peak_attribution();
  rest->set_site("other sites");
  rest->set_live_bytes(rest_bytes);
}

// A phase's parent stands before it, so no phase that stays lacks its parent.
void CutPhases(BenchmarkMemory* benchmark) {
  auto* const phases = benchmark->mutable_phases();
  if (phases->size() <= kMostPhases) return;
  phases->DeleteSubrange(kMostPhases, phases->size() - kMostPhases);
}

void AddPeak(const BenchmarkMemory& benchmark, TrialExplanation* explanation) {
  const Metric* const peak =
      Find(benchmark.metrics(), PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  if (peak != nullptr) explanation->set_heap_peak_bytes(peak->value());
  explanation->set_peak_stage(StageOfPeak(benchmark));
}

// Returns "make (file:3)", or only the function if there is no line.
std::string NameSite(const CodeFrame& frame) {
  if (frame.file().empty() || frame.line() <= 0) {
    return EscapeForProto(frame.function());
  }
  return EscapeForProto(absl::StrCat(
      frame.function(), " (", absl::StripPrefix(frame.file(), kBundlePrefix),
      ":", frame.line(), ")"));
}

// Adds the places that held the most bytes at the peak, with their lines. The
// sites of a profile have no lines, since these change with each edit.
void AddPeakSites(const MeasuredRun& run, TrialExplanation* explanation) {
  const MeasuredImage* const image = LargestImage(run);
  if (image == nullptr) return;
  const CodePlaces places(run);
  std::map<std::string, int64_t> bytes_of;
  for (const SiteAmounts& site : image->sites()) {
    int64_t& bytes =
        bytes_of[NameSite(places.FindShownFrame(places.OfCall(site.call())))];
    bytes = SaturatedSum(bytes, site.at_peak().bytes());
  }
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [name, bytes] : bytes_of) {
    if (bytes > 0) sorted.emplace_back(-bytes, name);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [negative_bytes, name] : sorted) {
    if (explanation->peak_sites_size() == kMostSites) return;
    Attribution* const site = explanation->add_peak_sites();
    site->set_site(name);
    site->set_live_bytes(-negative_bytes);
  }
}

// Names the objects by their paths here, so that their symbols are found.
void FindObjectsBelow(const std::string& root_folder,
                      MeasuredProcess* process) {
  if (!process->sites.has_value()) return;
  for (auto& each : process->sites->modules) {
    if (absl::StartsWith(each.path, "/")) {
      each.path = absl::StrCat(root_folder, each.path);
    }
  }
}

}  // namespace

absl::StatusOr<TrialExplanation> ExplainRecords(const RecordedRun& run) {
  absl::StatusOr<std::vector<MeasuredProcess>> processes =
      ReadRecords(run.folder);
  if (!processes.ok()) return processes.status();
  if (processes->empty()) {
    return absl::NotFoundError("the program left no records");
  }
  if (!run.root_folder.empty()) {
    for (MeasuredProcess& each : *processes) {
      FindObjectsBelow(run.root_folder, &each);
    }
  }
  AgentRun agent_run;
  agent_run.arguments = run.arguments;
  // The sites are wanted even if they are from a sample.
  agent_run.sampling_interval_bytes = 0;
  AgentRunEnd end;
  end.exit_status = run.exit_status;
  end.signal_number = run.signal_number;
  end.wall_time_ns = run.wall_time_ns;
  end.processes = *std::move(processes);
  TrialExplanation explanation;
  MemoryProfile* const profile = explanation.mutable_profile();
  const MeasuredRun measured = MakeMeasuredRun(agent_run, end);
  *profile = MemoryProfileReport(measured);
  if (!profile->benchmarks().empty()) AddPeakSites(measured, &explanation);
  for (BenchmarkMemory& benchmark : *profile->mutable_benchmarks()) {
    AddPeak(benchmark, &explanation);
    CutAttributions(&benchmark);
    CutPhases(&benchmark);
  }
  return explanation;
}

}  // namespace footprint

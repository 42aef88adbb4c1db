#include "footprint/profiling/reports/memory_profile_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/profiling/records/run_metric_table.h"
#include "footprint/profiling/reports/unaccounted_memory.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/uncounted_heap.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

using Metrics = google::protobuf::RepeatedPtrField<Metric>;

constexpr size_t kMaxAttributions = 50;

absl::string_view FileName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the program's name, or the script's if Python runs one.
std::string ProgramName(const MeasuredRun& run) {
  if (run.program().empty()) return "program";
  absl::string_view name = FileName(run.program(0));
  for (int i = 1; absl::StartsWith(name, "python") && i < run.program_size();
       ++i) {
    const absl::string_view script = run.program(i);
    if (absl::EndsWith(script, ".py")) {
      return std::string(absl::StripSuffix(FileName(script), ".py"));
    }
  }
  return std::string(name);
}

void SetName(const MeasuredRun& run, BenchmarkMemory* memory) {
  std::string name = ProgramName(run);
  for (int i = 1; i < run.program_size(); ++i) {
    absl::string_view word = run.program(i);
    const size_t equals = word.find('=');
    if (!absl::ConsumePrefix(&word, "--") || equals == absl::string_view::npos)
      continue;
    Argument* const argument = memory->add_arguments();
    argument->set_name(std::string(word.substr(0, equals - 2)));
    argument->set_value(std::string(word.substr(equals - 1)));
    absl::StrAppend(&name, "/", argument->name(), ":", argument->value());
  }
  memory->set_name(name);
}

Environment MakeEnvironment(const MeasuredRun& run,
                            const MeasuredImage& image) {
  Environment environment;
  environment.set_allocator(run.machine().allocator());
  environment.set_page_size_bytes(run.machine().page_size_bytes());
  environment.set_c_library(run.machine().c_library());
  environment.set_simd_level(run.machine().simd_level());
  environment.set_architecture(run.machine().architecture());
  environment.set_interpreter(image.interpreter());
  environment.set_loaded_modules(absl::StrJoin(image.module_versions(), ", "));
  return environment;
}

void AddMetric(MetricKind kind, Determinism determinism, int64_t value,
               Metrics* metrics) {
  Metric* const metric = metrics->Add();
  metric->set_kind(kind);
  metric->set_determinism(determinism);
  metric->set_value(value);
}

// The sums over all processes; not set if one of them has no figures.
struct ProcessSums {
  std::optional<int64_t> thread_peak_bytes = 0;
  std::optional<int64_t> allocated_bytes = 0;
  std::optional<int64_t> allocation_count = 0;
};

void Add(bool is_known, int64_t value, std::optional<int64_t>* sum) {
  if (!is_known) sum->reset();
  if (sum->has_value()) *sum = SaturatedSum(**sum, value);
}

ProcessSums SumProcesses(const MeasuredRun& run) {
  ProcessSums sums;
  std::map<int, int64_t> thread_peaks;  // Indexed by process.
  for (const MeasuredImage& image : run.images()) {
    int64_t& thread_peak = thread_peaks[image.process_id()];
    if (image.end() == MeasuredImage::BECAME_ANOTHER) {
      // exec left only one thread in this image, so its own peak is a bound for
      // it.
      thread_peak = std::max(thread_peak, OwnPeakBytes(image));
      continue;
    }
    Add(image.has_totals(), image.allocated_bytes(), &sums.allocated_bytes);
    Add(image.has_totals(), image.allocation_count(), &sums.allocation_count);
    thread_peak = std::max(thread_peak, image.sum_thread_peak_bytes());
    if (!image.has_totals()) sums.thread_peak_bytes.reset();
  }
  for (const auto& [process, peak] : thread_peaks) {
    Add(true, peak, &sums.thread_peak_bytes);
  }
  return sums;
}

void AddProgramMetrics(const MeasuredRun& run, const MeasuredImage& image,
                       Metrics* metrics) {
  const Determinism peak_class = image.threads_may_overlap() ? BOUNDED : EXACT;
  const ProcessSums sums = SumProcesses(run);
  AddMetric(PEAK_LIVE_USABLE_BYTES, peak_class, OwnPeakBytes(image), metrics);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, peak_class,
            image.peak_live_bytes(), metrics);
  if (sums.thread_peak_bytes.has_value()) {
    AddMetric(SUM_THREAD_PEAK_USABLE_BYTES, EXACT, *sums.thread_peak_bytes,
              metrics);
  }
  if (sums.allocated_bytes.has_value()) {
    AddMetric(ALLOCATED_USABLE_BYTES, EXACT, *sums.allocated_bytes, metrics);
    AddMetric(ALLOCATION_COUNT, EXACT, *sums.allocation_count, metrics);
  }
  if (image.has_totals()) {
    AddMetric(NET_GROWTH_USABLE_BYTES, EXACT,
              image.live_bytes() - image.inherited_live_bytes(), metrics);
  }
  AddMetric(PEAK_MAPPED_BYTES, peak_class, image.peak_mapped_bytes(), metrics);
  AddMetric(PEAK_RESIDENT_BYTES, STATISTICAL, ResidentTogetherBytes(run),
            metrics);
}

// Finds the process with the most anonymous bytes beyond its heap, and adds
// them if its heap explains too little. Gates refuse such a profile until a
// threshold judges these bytes.
void AddUnaccounted(const MeasuredRun& run, BenchmarkMemory* memory) {
  const auto least_told =
      std::max_element(run.images().begin(), run.images().end(),
                       [](const MeasuredImage& a, const MeasuredImage& b) {
                         return BytesBeyondHeap(a) < BytesBeyondHeap(b);
                       });
  if (!HeapTellsTooLittle(*least_told)) return;
  AddMetric(RESIDENT_ANONYMOUS_BYTES, STATISTICAL,
            PeakAnonymousBytes(*least_told), memory->mutable_metrics());
  Phase* const phase = memory->add_phases();
  phase->set_name(kUnaccountedPhase);
  phase->set_parent(-1);
  AddMetric(RESIDENT_ANONYMOUS_BYTES, STATISTICAL, BytesBeyondHeap(*least_told),
            phase->mutable_metrics());
}

// Returns the image's stages that become phases: the named ones, or all if none
// is named.
std::vector<int> StagesToShow(const MeasuredImage& image) {
  std::vector<int> named;
  std::vector<int> others;
  for (int i = 1; i < image.stages_size(); ++i) {
    (image.stages(i).kind() == StageFigures::NAMED ? named : others)
        .push_back(i);
  }
  return named.empty() ? others : named;
}

// A file's folder may be new in each run, so only its name is used.
std::string StageName(const StageFigures& stage) {
  return stage.kind() == StageFigures::FILE
             ? std::string(FileName(stage.name()))
             : stage.name();
}

// Adds the phases. Returns the index of the phase by stage; a stage that is not
// a phase has its parent's.
std::map<int, int> AddPhases(const MeasuredImage& image,
                             BenchmarkMemory* memory) {
  const Determinism peak_class = image.threads_may_overlap() ? BOUNDED : EXACT;
  const std::vector<int> shown = StagesToShow(image);
  const std::set<int> is_shown(shown.begin(), shown.end());
  std::map<int, int> phase_of = {{0, -1}};
  std::set<std::string> names;
  for (int i = 1; i < image.stages_size(); ++i) {
    const StageFigures& stage = image.stages(i);
    const int parent = phase_of[static_cast<int>(stage.parent())];
    phase_of[i] = parent;
    if (is_shown.count(i) == 0) continue;
    const std::string plain = absl::StrCat(
        parent < 0 ? "" : absl::StrCat(memory->phases(parent).name(), "/"),
        StageName(stage));
    std::string name = plain;
    for (int n = 2; !names.insert(name).second; ++n) {
      name = absl::StrCat(plain, " (", n, ")");
    }
    phase_of[i] = memory->phases_size();
    Phase* const phase = memory->add_phases();
    phase->set_name(name);
    phase->set_parent(parent);
    Metrics* const metrics = phase->mutable_metrics();
#define FOOTPRINT_ADD(field, member, is_highest, kind, ...) \
  AddMetric(kind, is_highest ? peak_class : EXACT, stage.field(), metrics);
    FOOTPRINT_STAGE_METRICS(FOOTPRINT_ADD)
#undef FOOTPRINT_ADD
  }
  return phase_of;
}

using Attributions = google::protobuf::RepeatedPtrField<Attribution>;

void AddAttribution(const std::string& site, int64_t bytes,
                    Attributions* attributions) {
  Attribution* const attribution = attributions->Add();
  attribution->set_site(site);
  attribution->set_live_bytes(bytes);
}

// Returns a function, with its file and line if they are known: "Read
// (table.cc:41)". Folders differ from one machine to the next.
std::string DescribeSite(const CodeFrame& frame) {
  if (frame.file().empty() || frame.line() <= 0) return frame.function();
  return absl::StrCat(frame.function(), " (", FileName(frame.file()), ":",
                      frame.line(), ")");
}

// Bytes by phase and place in the code.
using BytesOfPlace = std::map<std::pair<int, uint32_t>, int64_t>;

void AddPlaces(const CodePlaces& places, const BytesOfPlace& bytes_of_place,
               const BenchmarkMemory& memory, Attributions* attributions) {
  std::map<std::string, int64_t> bytes_of_site;
  for (const auto& [key, place_bytes] : bytes_of_place) {
    const auto& [phase, place] = key;
    const std::string stage =
        phase < 0 ? ""
                  : absl::StrCat("phase:", memory.phases(phase).name(), "/");
    int64_t& bytes = bytes_of_site[absl::StrCat(
        stage, "site:", DescribeSite(places.FindShownFrame(place)))];
    bytes = SaturatedSum(bytes, place_bytes);
  }
  // Adds the sites with the most bytes, and the others as one.
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [site, bytes] : bytes_of_site) {
    if (bytes > 0) sorted.emplace_back(-bytes, site);
  }
  std::sort(sorted.begin(), sorted.end());
  int64_t other_bytes = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [negative_bytes, site] = sorted[i];
    if (i < kMaxAttributions) {
      AddAttribution(site, -negative_bytes, attributions);
    } else {
      other_bytes = SaturatedSum(other_bytes, -negative_bytes);
    }
  }
  if (other_bytes > 0) AddAttribution("other sites", other_bytes, attributions);
}

// Figures of the heap are exact unless allocations are sampled; those of
// mappings always are.
void AttributePeaks(const MeasuredRun& run, const MeasuredImage& image,
                    const std::map<int, int>& phase_of,
                    BenchmarkMemory* memory) {
  const CodePlaces places(run);
  const auto key_of = [&](uint32_t stage, uint32_t call) {
    return std::pair(phase_of.at(static_cast<int>(stage)), places.OfCall(call));
  };
  BytesOfPlace live_bytes;
  for (const SiteAmounts& site : image.sites()) {
    int64_t& bytes = live_bytes[key_of(site.stage(), site.call())];
    bytes = SaturatedSum(bytes, site.at_peak().bytes());
  }
  BytesOfPlace mapped_bytes;
  for (const MappingAmounts& mapping : image.mappings()) {
    int64_t& bytes = mapped_bytes[key_of(mapping.stage(), mapping.call())];
    bytes = SaturatedSum(bytes, mapping.at_peak_bytes());
  }
  if (run.sampling_interval_bytes() == 0) {
    AddPlaces(places, live_bytes, *memory, memory->mutable_peak_attribution());
  }
  AddPlaces(places, mapped_bytes, *memory,
            memory->mutable_mapped_attribution());
}

// Returns true, and sets the reason, if the figures do not cover the whole
// program.
bool Fails(const MeasuredRun& run, ProducerFailure* failure) {
  if (run.signal_number() != 0) {
    failure->set_kind(ProducerFailure::SIGNALLED);
    failure->set_signal_number(run.signal_number());
    return true;
  }
  if (run.exit_status() != 0) {
    failure->set_kind(ProducerFailure::EXITED);
    failure->set_exit_status(run.exit_status());
    return true;
  }
  // The program succeeded, but some of its memory may be missing.
  failure->set_kind(ProducerFailure::WROTE_NO_PROFILE);
  if (run.images().empty()) {
    failure->set_detail("the agent was not loaded, so nothing was measured");
    return true;
  }
  if (run.has_lost_records()) {
    failure->set_detail(
        "the program removed the folder of its records, so processes that "
        "began later were not measured; set TMPDIR to a folder that it leaves "
        "alone");
    return true;
  }
  if (run.unrecorded_process_count() > 0) {
    failure->set_detail(absl::StrCat(
        "no record was left by ", run.unrecorded_process_count(),
        " of the processes that ran (",
        absl::StrJoin(run.unrecorded_programs(), ", "),
        "); start them with LD_PRELOAD as it is, and link no static program"));
    return true;
  }
  for (const MeasuredImage& image : run.images()) {
    if (IsCounted(image)) continue;
    failure->set_detail(absl::StrCat(
        std::string(FileName(image.executable())), " ",
        DescribeUncountedHeap(image),
        "; link it without, or measure it with //profiling:exact_heap"));
    return true;
  }
  failure->Clear();
  return false;
}

}  // namespace

MemoryProfile MemoryProfileReport(const MeasuredRun& run) {
  MemoryProfile profile;
  profile.set_schema_version(kMemoryProfileSchemaVersion);
  profile.set_label(absl::StrCat("//:", ProgramName(run)));
  const MeasuredImage* const image = LargestImage(run);
  if (image != nullptr) {
    *profile.mutable_environment() = MakeEnvironment(run, *image);
  }
  ProducerFailure failure;
  if (Fails(run, &failure)) {
    *profile.mutable_failure() = failure;
    return profile;
  }
  BenchmarkMemory* const memory = profile.add_benchmarks();
  SetName(run, memory);
  AddProgramMetrics(run, *image, memory->mutable_metrics());
  const std::map<int, int> phase_of = AddPhases(*image, memory);
  if (image->has_sites()) AttributePeaks(run, *image, phase_of, memory);
  AddUnaccounted(run, memory);
  int lost_child_count = 0;
  for (const MeasuredImage& each : run.images()) {
    lost_child_count += each.lost_child_count();
  }
  memory->set_forked_process_count(lost_child_count);
  return profile;
}

}  // namespace footprint

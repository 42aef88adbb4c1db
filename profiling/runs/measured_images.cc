#include "footprint/profiling/runs/measured_images.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/running_images.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/runs/live_moments.h"
#include "footprint/profiling/runs/module_versions.h"
#include "footprint/profiling/runs/native_calls.h"
#include "footprint/profiling/runs/sampled_calls.h"
#include "footprint/profiling/runs/suspected_leaks.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {
namespace {

// Writers other than this version's agent may have stored any value.
double Variance(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

void AddTo(const SiteProfile::Figure& figure, Amount* sum) {
  Amount amount;
  amount.set_bytes(figure.bytes);
  amount.set_count(figure.count);
  amount.set_variance(Variance(figure.variance));
  AddTo(amount, sum);
}

// Returns the shared objects of a process. A fork that ended without exit has
// no list of its own; that of the process from which it came names the same.
const std::vector<std::string>& FindLoadedObjects(
    const MeasuredProcess& process,
    const std::vector<MeasuredProcess>& processes) {
  const MeasuredProcess* each = &process;
  // Each pass goes to the parent, and no chain of forks is longer than the
  // list.
  for (size_t i = 0; i < processes.size(); ++i) {
    if (!each->loaded_objects.empty() || !each->figures.is_fork()) break;
    const MeasuredProcess* parent = nullptr;
    for (const MeasuredProcess& other : processes) {
      if (other.figures.process_id() != each->figures.parent_process_id()) {
        continue;
      }
      // The parent may have become another program before or after the fork.
      if (parent == nullptr || !other.loaded_objects.empty()) parent = &other;
    }
    if (parent == nullptr) break;
    each = parent;
  }
  return each->loaded_objects;
}

void SetFigures(const MeasuredProcess& process,
                const std::vector<MeasuredProcess>& processes,
                MeasuredImage* image) {
  *image = process.figures;
  if (image->end() == MeasuredImage::KILLED &&
      BecameAnother(*image, processes)) {
    image->set_end(MeasuredImage::BECAME_ANOTHER);
  }
  for (const std::string& version :
       ModuleVersions(FindLoadedObjects(process, processes))) {
    image->add_module_versions(EscapeForProto(version));
  }
}

void SetInterpreter(const PythonCodes& python, MeasuredImage* image) {
  image->set_interpreter(python.interpreter);
  image->set_python_objects(python.objects_are_counted
                                ? MeasuredImage::COUNTED
                                : MeasuredImage::IN_ARENAS);
  if (!python.has_calls) {
    image->add_notes(absl::StrCat(
        python.interpreter,
        " is not a version whose calls can be read (3.11 to 3.14 are): native "
        "functions stand alone, without Python's functions and lines"));
  }
  if (!python.objects_are_counted) {
    image->add_notes(
        "Python's small objects are not in the live bytes: they come from "
        "arenas, which count as mapped bytes. Without PYTHONMALLOC and -X dev, "
        "from 3.10 to 3.14, each object is counted");
  }
  if (python.is_incomplete) {
    image->add_notes(
        "some Python functions could not be stored and have no name");
  }
}

// The threads that allocated or used processor time, with their figures.
class Threads {
 public:
  explicit Threads(const MeasuredProcess& process) {
    indices_[0] = 0;
    if (process.sites.has_value()) {
      for (const SiteProfile::Site& site : process.sites->sites) {
        indices_[site.thread];
      }
    }
    if (process.processor_time.has_value()) {
      for (const StackTallies::Tally& time : process.processor_time->tallies) {
        indices_[time.thread];
      }
    }
    uint32_t index = 0;
    for (auto& [number, place] : indices_) place = index++;
  }

  uint32_t IndexOf(uint32_t number) const { return indices_.at(number); }

  void Write(MeasuredImage* image) const {
    for (const auto& [number, index] : indices_) {
      image->add_threads()->set_number(number);
    }
    for (const SiteAmounts& site : image->sites()) {
      MeasuredThread* const thread =
          image->mutable_threads(static_cast<int>(site.thread()));
      thread->set_allocated_bytes(
          SaturatedSum(thread->allocated_bytes(), site.allocated().bytes()));
      thread->set_at_peak_bytes(
          SaturatedSum(thread->at_peak_bytes(), site.at_peak().bytes()));
    }
  }

 private:
  std::map<uint32_t, uint32_t> indices_;  // Indexed by number.
};

// Returns `stage`, or 0 (outside all stages) if the image does not list it.
uint32_t KnownStage(uint32_t stage, const MeasuredImage& image) {
  return stage < static_cast<uint32_t>(image.stages_size()) ? stage : 0;
}

// Different addresses of a line are one call, so sites are merged.
void SetSites(const MeasuredProcess& process, const Threads& threads,
              NativeCalls* calls, MeasuredImage* image) {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  absl::flat_hash_map<Key, SiteAmounts*> sites;
  for (const SiteProfile::Site& site : process.sites->sites) {
    const uint32_t call = calls->FindCall(site.node);
    const uint32_t thread = threads.IndexOf(site.thread);
    const uint32_t stage = KnownStage(site.stage, *image);
    SiteAmounts*& known = sites[{call, thread, stage}];
    if (known == nullptr) known = image->add_sites();
    SiteAmounts& sum = *known;
    sum.set_call(call);
    sum.set_thread(thread);
    sum.set_stage(stage);
    AddTo(site.at_peak, sum.mutable_at_peak());
    AddTo(site.at_end, sum.mutable_at_end());
    AddTo(site.allocated, sum.mutable_allocated());
    sum.set_temporary_count(
        SaturatedSum(sum.temporary_count(), site.temporary_count));
    sum.set_sample_count(SaturatedSum(sum.sample_count(), site.sample_count));
    if (process.has_recent_peak) {
      sum.set_at_recent_peak_bytes(
          SaturatedSum(sum.at_recent_peak_bytes(), site.at_recent_peak_bytes));
    }
  }
  const auto key_of = [](const SiteAmounts* site) {
    return Key(site->call(), site->thread(), site->stage());
  };
  std::sort(image->mutable_sites()->pointer_begin(),
            image->mutable_sites()->pointer_end(),
            [&](const SiteAmounts* a, const SiteAmounts* b) {
              return key_of(a) < key_of(b);
            });
}

void SetMappings(const SiteProfile& profile, NativeCalls* calls,
                 MeasuredImage* image) {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> bytes_at_peak;
  for (const SiteProfile::MappingSite& site : profile.mapping_sites) {
    int64_t& bytes = bytes_at_peak[{calls->FindCall(site.node),
                                    KnownStage(site.stage, *image)}];
    bytes = SaturatedSum(bytes, site.at_peak_bytes);
  }
  for (const auto& [key, bytes] : bytes_at_peak) {
    if (bytes <= 0) continue;
    MappingAmounts* const mapping = image->add_mappings();
    mapping->set_call(key.first);
    mapping->set_stage(key.second);
    mapping->set_at_peak_bytes(bytes);
  }
}

// Returns null if the process is not an interpreter.
const PythonCodes* FindPythonCodes(const MeasuredProcess& process) {
  return process.python.has_value() ? &*process.python : nullptr;
}

// Sets the process's other figures that have stacks.
void SetSamples(const MeasuredProcess& process, const Threads& threads,
                Symbolizer* symbolizer, CallForest* forest,
                MeasuredImage* image) {
  if (process.processor_time.has_value()) {
    SetProcessorTime(
        *process.processor_time,
        [&](uint32_t number) { return threads.IndexOf(number); },
        FindPythonCodes(process), symbolizer, forest, image);
    const int missed = process.processor_time->missed_thread_count;
    if (missed > 0) {
      image->add_notes(
          absl::StrCat("processor time of threads was not sampled: ", missed,
                       ", for which no timer was to be had (ulimit -i)"));
    }
  }
  if (process.copies.has_value()) {
    SetCopies(*process.copies, FindPythonCodes(process), symbolizer, forest,
              image);
  }
}

void SetTimeline(const SiteProfile& profile, uint32_t peak_stage,
                 MeasuredImage* image) {
  std::vector<SiteProfile::Point> points = profile.timeline;
  // The timeline's points have a least distance, and the peak may lie between
  // two of them.
  points.push_back(
      {image->peak_time_ns(), image->peak_live_bytes(), peak_stage});
  std::stable_sort(
      points.begin(), points.end(),
      [](const SiteProfile::Point& a, const SiteProfile::Point& b) {
        return a.time_ns < b.time_ns;
      });
  for (const SiteProfile::Point& point : points) {
    TimelinePoint* const added = image->add_timeline();
    added->set_time_ns(point.time_ns);
    added->set_live_bytes(point.live_bytes);
    added->set_stage(KnownStage(point.stage, *image));
  }
}

}  // namespace

void AddMeasuredImages(const std::vector<MeasuredProcess>& processes,
                       MeasuredRun* run) {
  CallForest forest(run);
  Symbolizer symbolizer;
  for (const MeasuredProcess& process : processes) {
    MeasuredImage* const image = run->add_images();
    SetFigures(process, processes, image);
    if (process.python.has_value()) SetInterpreter(*process.python, image);
    const Threads threads(process);
    SetSamples(process, threads, &symbolizer, &forest, image);
    if (process.processor_time.has_value() && !process.sites.has_value()) {
      threads.Write(image);
    }
    if (!process.sites.has_value()) continue;
    image->set_has_sites(true);
    image->set_sites_are_incomplete(process.sites->is_incomplete);
    NativeCalls calls(process.sites->modules, process.sites->nodes, &symbolizer,
                      &forest, FindPythonCodes(process));
    SetSites(process, threads, &calls, image);
    SetMappings(*process.sites, &calls, image);
    threads.Write(image);
    SetTimeline(*process.sites, process.peak_stage, image);
    if (process.growth.has_value()) {
      SetSuspectedLeaks(*process.sites, *process.growth, &calls, image);
      SetMoments(*process.sites, *process.growth, &calls, image);
    }
  }
}

int64_t ResidentTogetherBytes(const MeasuredRun& run) {
  int64_t bytes = run.peak_resident_once_bytes();
  if (bytes == 0) bytes = run.peak_resident_sum_bytes();
  for (const MeasuredImage& image : run.images()) {
    bytes = std::max(bytes, image.peak_resident_bytes());
  }
  return bytes;
}

const MeasuredImage* LargestImage(const MeasuredRun& run) {
  const auto largest =
      std::max_element(run.images().begin(), run.images().end(),
                       [](const MeasuredImage& a, const MeasuredImage& b) {
                         return OwnPeakBytes(a) < OwnPeakBytes(b);
                       });
  return largest == run.images().end() ? nullptr : &*largest;
}

}  // namespace footprint

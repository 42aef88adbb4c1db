#include "footprint/profiling/runs/reduced_run.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

// The figures of a place in one process.
struct PlaceFigures {
  Amount at_peak;
  Amount at_end;
  Amount allocated;
  Amount mapped;
  int64_t processor_ns = 0;

  void Add(const SiteAmounts& site) {
    AddTo(site.at_peak(), &at_peak);
    AddTo(site.at_end(), &at_end);
    AddTo(site.allocated(), &allocated);
  }
  void Add(const MappingAmounts& mapping) {
    mapped.set_bytes(SaturatedSum(mapped.bytes(), mapping.at_peak_bytes()));
  }
  void Add(const ProcessorTime& time) {
    for (int64_t ns :
         {time.native_ns(), time.interpreter_ns(), time.system_ns()}) {
      processor_ns = SaturatedSum(processor_ns, ns);
    }
  }
};

// A part of exactly the percentage reaches it: both sides are rounded alike.
bool Reaches(int64_t part, int64_t whole, double percent, int64_t least) {
  return part > 0 && part >= least &&
         100 * static_cast<double>(part) / static_cast<double>(whole) >=
             percent;
}

class Reducer {
 public:
  Reducer(const MeasuredRun& run, const RunThresholds& thresholds)
      : run_(run),
        thresholds_(thresholds),
        places_(run),
        reduced_(run),
        forest_(&reduced_) {
    reduced_.clear_frames();
    reduced_.clear_calls();
  }

  MeasuredRun Reduce() {
    for (MeasuredImage& image : *reduced_.mutable_images()) Reduce(&image);
    return std::move(reduced_);
  }

 private:
  void Reduce(MeasuredImage* image) {
    FindKept(*image);
    MergeSites(image);
    MergeMappings(image);
    MergeCopies(image);
    MergeTimes(image);
    for (LiveMoment& moment : *image->mutable_moments()) Merge(&moment);
    for (SuspectedLeak& leak : *image->mutable_suspected_leaks()) {
      leak.set_call(Kept(leak.call()));
    }
  }

  void FindKept(const MeasuredImage& image) {
    absl::flat_hash_map<uint32_t, PlaceFigures> places;
    PlaceFigures all;
    for (const SiteAmounts& site : image.sites()) {
      places[places_.OfCall(site.call())].Add(site);
      all.Add(site);
    }
    for (const MappingAmounts& mapping : image.mappings()) {
      places[places_.OfCall(mapping.call())].Add(mapping);
      all.Add(mapping);
    }
    for (const ProcessorTime& time : image.processor_time()) {
      places[places_.OfCall(time.call())].Add(time);
      all.Add(time);
    }
    is_kept_.clear();
    for (const auto& [place, figures] : places) {
      is_kept_[place] = ReachesMemory(figures.at_peak, all.at_peak) ||
                        ReachesMemory(figures.at_end, all.at_end) ||
                        ReachesMemory(figures.allocated, all.allocated) ||
                        ReachesMemory(figures.mapped, all.mapped) ||
                        Reaches(figures.processor_ns, all.processor_ns,
                                thresholds_.processor_percent, 1);
    }
  }

  bool ReachesMemory(const Amount& part, const Amount& whole) const {
    return Reaches(part.bytes(), whole.bytes(), thresholds_.memory_percent,
                   thresholds_.memory_bytes);
  }

  // Returns the call in the reduced run.
  uint32_t CallFor(uint32_t call) {
    return call == 0 || is_kept_[places_.OfCall(call)] ? Kept(call) : Others();
  }

  uint32_t Kept(uint32_t call) {
    std::vector<uint32_t> path;
    for (; call != 0 && kept_.find(call) == kept_.end();
         call = run_.calls(static_cast<int>(call) - 1).parent()) {
      path.push_back(call);
    }
    uint32_t kept = call == 0 ? 0 : kept_[call];
    for (auto each = path.rbegin(); each != path.rend(); ++each) {
      const uint32_t frame = run_.calls(static_cast<int>(*each) - 1).frame();
      kept = forest_.Call(kept,
                          forest_.Frame(run_.frames(static_cast<int>(frame))));
      kept_[*each] = kept;
    }
    return kept;
  }

  uint32_t Others() {
    CodeFrame frame;
    frame.set_kind(CodeFrame::UNKNOWN);
    frame.set_function("[below the threshold]");
    return forest_.Call(0, forest_.Frame(frame));
  }

  void MergeSites(MeasuredImage* image) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, SiteAmounts> merged;
    for (const SiteAmounts& site : image->sites()) {
      const uint32_t call = CallFor(site.call());
      SiteAmounts& sum = merged[{call, site.thread(), site.stage()}];
      sum.set_call(call);
      sum.set_thread(site.thread());
      sum.set_stage(site.stage());
      AddTo(site.at_peak(), sum.mutable_at_peak());
      AddTo(site.at_end(), sum.mutable_at_end());
      AddTo(site.allocated(), sum.mutable_allocated());
      sum.set_at_recent_peak_bytes(SaturatedSum(sum.at_recent_peak_bytes(),
                                                site.at_recent_peak_bytes()));
      sum.set_temporary_count(
          SaturatedSum(sum.temporary_count(), site.temporary_count()));
      sum.set_sample_count(
          SaturatedSum(sum.sample_count(), site.sample_count()));
    }
    image->clear_sites();
    for (auto& [key, site] : merged) *image->add_sites() = std::move(site);
  }

  void MergeMappings(MeasuredImage* image) {
    std::map<std::pair<uint32_t, uint32_t>, MappingAmounts> merged;
    for (const MappingAmounts& mapping : image->mappings()) {
      const uint32_t call = CallFor(mapping.call());
      MappingAmounts& sum = merged[{call, mapping.stage()}];
      sum.set_call(call);
      sum.set_stage(mapping.stage());
      sum.set_at_peak_bytes(
          SaturatedSum(sum.at_peak_bytes(), mapping.at_peak_bytes()));
    }
    image->clear_mappings();
    for (auto& [key, mapping] : merged) {
      *image->add_mappings() = std::move(mapping);
    }
  }

  void Merge(LiveMoment* moment) {
    std::map<uint32_t, int64_t> merged;
    for (int i = 0; i < moment->calls_size(); ++i) {
      int64_t& bytes = merged[CallFor(moment->calls(i))];
      bytes = SaturatedSum(bytes, moment->bytes(i));
    }
    moment->clear_calls();
    moment->clear_bytes();
    for (const auto& [call, bytes] : merged) {
      moment->add_calls(call);
      moment->add_bytes(bytes);
    }
  }

  void MergeCopies(MeasuredImage* image) {
    std::map<std::pair<uint32_t, uint32_t>, CopyAmounts> merged;
    for (const CopyAmounts& copy : image->copies()) {
      const uint32_t call = CallFor(copy.call());
      CopyAmounts& sum = merged[{call, copy.stage()}];
      sum.set_call(call);
      sum.set_stage(copy.stage());
      AddTo(copy.copied(), sum.mutable_copied());
    }
    image->clear_copies();
    for (auto& [key, copy] : merged) *image->add_copies() = std::move(copy);
  }

  void MergeTimes(MeasuredImage* image) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, ProcessorTime> merged;
    for (const ProcessorTime& time : image->processor_time()) {
      const uint32_t call = CallFor(time.call());
      ProcessorTime& sum = merged[{call, time.thread(), time.stage()}];
      sum.set_call(call);
      sum.set_thread(time.thread());
      sum.set_stage(time.stage());
      sum.set_sample_count(
          SaturatedSum(sum.sample_count(), time.sample_count()));
      sum.set_native_ns(SaturatedSum(sum.native_ns(), time.native_ns()));
      sum.set_interpreter_ns(
          SaturatedSum(sum.interpreter_ns(), time.interpreter_ns()));
      sum.set_system_ns(SaturatedSum(sum.system_ns(), time.system_ns()));
    }
    image->clear_processor_time();
    for (auto& [key, time] : merged) {
      *image->add_processor_time() = std::move(time);
    }
  }

  const MeasuredRun& run_;
  const RunThresholds& thresholds_;
  const CodePlaces places_;
  MeasuredRun reduced_;
  CallForest forest_;
  absl::flat_hash_map<uint32_t, bool> is_kept_;  // by place, for one image
  absl::flat_hash_map<uint32_t, uint32_t> kept_;
};

}  // namespace

MeasuredRun ReducedRun(const MeasuredRun& run,
                       const RunThresholds& thresholds) {
  return Reducer(run, thresholds).Reduce();
}

}  // namespace footprint

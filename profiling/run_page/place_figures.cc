#include "footprint/profiling/run_page/place_figures.h"

#include <cstddef>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr uint32_t kNowhere = 0;

// Places of frames and calls, by index; frames of one line are one place.
class Places {
 public:
  explicit Places(const MeasuredRun& run) {
    frames_.push_back(nullptr);
    AddFrames(run);
    AddCalls(run);
  }

  uint32_t OfCall(uint32_t call) const {
    return call < of_calls_.size() ? of_calls_[call] : kNowhere;
  }

  const std::vector<const CodeFrame*>& frames() const { return frames_; }

 private:
  void AddFrames(const MeasuredRun& run) {
    using Key = std::tuple<absl::string_view, absl::string_view, int32_t,
                           absl::string_view>;
    absl::flat_hash_map<Key, uint32_t> indices;
    for (const CodeFrame& frame : run.frames()) {
      const auto [found, is_new] = indices.try_emplace(
          Key(frame.function(), frame.file(), frame.line(), frame.module()),
          static_cast<uint32_t>(frames_.size()));
      if (is_new) frames_.push_back(&frame);
      of_frames_.push_back(found->second);
    }
  }

  // A call that serves its caller has its caller's place, if it has one.
  void AddCalls(const MeasuredRun& run) {
    of_calls_.reserve(static_cast<size_t>(run.calls_size()) + 1);
    of_calls_.push_back(kNowhere);
    std::vector<bool> is_settled = {false};
    is_settled.reserve(of_calls_.capacity());
    for (const Call& call : run.calls()) {
      const uint32_t parent =
          call.parent() < of_calls_.size() ? call.parent() : 0;
      uint32_t place = kNowhere;
      bool is_own = false;
      if (call.frame() < of_frames_.size()) {
        place = of_frames_[call.frame()];
        is_own = !ServesItsCaller(run.frames(static_cast<int>(call.frame())));
      }
      const bool is_callers = !is_own && is_settled[parent];
      of_calls_.push_back(is_callers ? of_calls_[parent] : place);
      is_settled.push_back(is_own || is_callers);
    }
  }

  std::vector<const CodeFrame*> frames_;
  std::vector<uint32_t> of_frames_;
  std::vector<uint32_t> of_calls_;
};

}  // namespace

std::vector<PlaceFigures> FiguresByPlace(const MeasuredRun& run,
                                         const MeasuredImage& image) {
  const Places places(run);
  std::vector<PlaceFigures> figures(places.frames().size());
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i].frame = places.frames()[i];
  }
  for (const SiteAmounts& site : image.sites()) {
    PlaceFigures& sum = figures[places.OfCall(site.call())];
    sum.at_peak.Add(site.at_peak());
    sum.at_end.Add(site.at_end());
    sum.allocated.Add(site.allocated());
    sum.temporary_count += site.temporary_count();
  }
  for (const CopyAmounts& copy : image.copies()) {
    figures[places.OfCall(copy.call())].copied.Add(copy.copied());
  }
  for (const ProcessorTime& time : image.processor_time()) {
    PlaceFigures& sum = figures[places.OfCall(time.call())];
    sum.native_ns += time.native_ns();
    sum.interpreter_ns += time.interpreter_ns();
    sum.system_ns += time.system_ns();
  }
  return figures;
}

const CodeFrame* PlaceOfCall(const MeasuredRun& run, uint32_t call) {
  const CodeFrame* innermost = nullptr;
  const auto call_count = static_cast<uint32_t>(run.calls_size());
  const auto frame_count = static_cast<uint32_t>(run.frames_size());
  while (call != 0 && call <= call_count) {
    const Call& each = run.calls(static_cast<int>(call) - 1);
    if (each.frame() >= frame_count) break;
    const CodeFrame& frame = run.frames(static_cast<int>(each.frame()));
    if (!ServesItsCaller(frame)) return &frame;
    if (innermost == nullptr) innermost = &frame;
    if (each.parent() >= call) break;
    call = each.parent();
  }
  return innermost;
}

}  // namespace footprint

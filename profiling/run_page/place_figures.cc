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

  // The rule of PlaceOf (site_rows.h), from callers to what they call.
  void AddCalls(const MeasuredRun& run) {
    const size_t count = static_cast<size_t>(run.calls_size()) + 1;
    of_calls_.assign(count, kNowhere);
    // Of what is called from here without a line: the line of Python or of the
    // native code below it; kNowhere outside of Python.
    std::vector<uint32_t> in_python(count, kNowhere);
    std::vector<bool> is_settled(count);
    for (size_t call = 1; call < count; ++call) {
      const Call& each = run.calls(static_cast<int>(call) - 1);
      const CodeFrame& frame = run.frames(static_cast<int>(each.frame()));
      const uint32_t parent = each.parent();
      const uint32_t own = of_frames_[each.frame()];
      in_python[call] = in_python[parent];
      if (ServesItsCaller(frame)) {
        is_settled[call] = is_settled[parent];
        of_calls_[call] = is_settled[parent] ? of_calls_[parent] : own;
        continue;
      }
      is_settled[call] = true;
      const bool is_python = frame.kind() == CodeFrame::PYTHON;
      const bool has_line = is_python || frame.line() > 0;
      of_calls_[call] =
          has_line || in_python[parent] == kNowhere ? own : in_python[parent];
      if (is_python || (has_line && in_python[parent] != kNowhere)) {
        in_python[call] = own;
      }
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

}  // namespace footprint

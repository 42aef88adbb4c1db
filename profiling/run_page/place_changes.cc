#include "footprint/profiling/run_page/place_changes.h"

#include <cstddef>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

using Key = std::tuple<absl::string_view, absl::string_view, absl::string_view>;

Key KeyOf(const CodeFrame* frame) {
  if (frame == nullptr) return {};
  return {frame->function(), FileName(frame->file()),
          FileName(frame->module())};
}

std::vector<PlaceFigures> FiguresOfLargest(const MeasuredRun& run) {
  const MeasuredImage* const image = LargestImage(run);
  if (image == nullptr) return {};
  return FiguresByPlace(run, *image);
}

// Places of both runs, each once.
class Changes {
 public:
  PlaceChange& Of(const CodeFrame* frame) {
    const auto [found, is_new] =
        indices_.try_emplace(KeyOf(frame), changes_.size());
    if (is_new) changes_.emplace_back();
    changes_[found->second].frame = frame;
    return changes_[found->second];
  }

  std::vector<PlaceChange> Take() { return std::move(changes_); }

 private:
  absl::flat_hash_map<Key, size_t> indices_;
  std::vector<PlaceChange> changes_;
};

}  // namespace

std::vector<PlaceChange> ChangesByPlace(const MeasuredRun& before,
                                        const MeasuredRun& after) {
  Changes changes;
  for (const PlaceFigures& place : FiguresOfLargest(before)) {
    PlaceChange& change = changes.Of(place.frame);
    change.at_peak.before.Add(place.at_peak);
    change.allocated.before.Add(place.allocated);
  }
  for (const PlaceFigures& place : FiguresOfLargest(after)) {
    PlaceChange& change = changes.Of(place.frame);
    change.at_peak.after.Add(place.at_peak);
    change.allocated.after.Add(place.allocated);
  }
  return changes.Take();
}

}  // namespace footprint

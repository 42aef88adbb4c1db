#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr size_t kMostSeries = 7;  // One more is for the others.
constexpr size_t kMostCommandBytes = 40;

// Returns the indices of at most about `most` points. They are the lowest and
// the highest point of each part, so the peak is never left out.
std::vector<int> ChosenPoints(const MeasuredImage& image, size_t most) {
  const int count = image.timeline_size();
  std::vector<int> chosen;
  const int parts = static_cast<int>(std::max<size_t>(1, most / 2));
  if (count <= 2 * parts) {
    for (int i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  const auto bytes = [&image](int i) { return image.timeline(i).live_bytes(); };
  for (int part = 0; part < parts; ++part) {
    const auto at = [&](int64_t which) {
      return static_cast<int>(which * count / parts);
    };
    int low = at(part);
    int high = low;
    for (int i = at(part); i < at(part + 1); ++i) {
      if (bytes(i) < bytes(low)) low = i;
      if (bytes(i) > bytes(high)) high = i;
    }
    chosen.push_back(std::min(low, high));
    if (low != high) chosen.push_back(std::max(low, high));
  }
  if (chosen.back() != count - 1) chosen.push_back(count - 1);
  return chosen;
}

// The series of the stages, and their names. A stage that takes much of the
// time has its own series.
class StageSeries {
 public:
  explicit StageSeries(const MeasuredImage& image) {
    std::map<size_t, int64_t> durations;
    for (int i = 0; i < image.timeline_size(); ++i) {
      const TimelinePoint& point = image.timeline(i);
      const int64_t end_ns = i + 1 < image.timeline_size()
                                 ? image.timeline(i + 1).time_ns()
                                 : point.time_ns();
      durations[point.stage()] += end_ns - point.time_ns();
    }
    std::vector<std::pair<int64_t, size_t>> longest;
    for (const auto& [stage, duration_ns] : durations) {
      longest.push_back({-duration_ns, stage});
    }
    std::sort(longest.begin(), longest.end());
    if (longest.size() > kMostSeries + 1) longest.resize(kMostSeries);
    // Sorts the series by number, the order in which the stages began.
    std::sort(longest.begin(), longest.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [duration_ns, stage] : longest) {
      series_[stage] = names_.size();
      names_.push_back(StageName(image, stage));
    }
    if (durations.size() > series_.size()) names_.push_back("other stages");
  }

  size_t Of(size_t stage) const {
    const auto found = series_.find(stage);
    return found == series_.end() ? names_.size() - 1 : found->second;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<size_t, size_t> series_;
  std::vector<std::string> names_;
};

Timeline MakeTimeline(const MeasuredRun& run, const MeasuredImage& image,
                      size_t most_points) {
  Timeline timeline;
  timeline.title = "Live bytes of the heap";
  timeline.description =
      image.inherited_live_bytes() > 0
          ? absl::StrCat("From the process's begin on, with ",
                         FormatRoundedBytes(image.inherited_live_bytes()),
                         " that its parent had at the fork.")
          : "The peak is never missed; between two points much may happen.";
  const StageSeries stages(image);
  timeline.series = stages.names();
  timeline.marked_label =
      absl::StrCat("peak ", FormatRoundedBytes(image.peak_live_bytes()));
  for (const int i : ChosenPoints(image, most_points)) {
    const TimelinePoint& point = image.timeline(i);
    timeline.points.push_back(
        {std::max<int64_t>(0, point.time_ns() - BeginTimeNs(run)),
         point.live_bytes(), stages.Of(point.stage())});
    const Timeline::Point& marked = timeline.points[timeline.marked_point];
    if (point.live_bytes() > marked.bytes) {
      timeline.marked_point = timeline.points.size() - 1;
    }
  }
  return timeline;
}

}  // namespace

void AddTimelines(const MeasuredRun& run, const PageLimits& limits,
                  PageContent* page) {
  constexpr int kLeastPoints = 2;
  std::vector<const MeasuredImage*> images;
  for (const MeasuredImage& image : run.images()) {
    if (image.timeline_size() >= kLeastPoints) images.push_back(&image);
  }
  if (images.empty()) return;
  std::stable_sort(images.begin(), images.end(),
                   [](const MeasuredImage* a, const MeasuredImage* b) {
                     return OwnPeakBytes(*a) > OwnPeakBytes(*b);
                   });
  if (images.size() > limits.timelines) images.resize(limits.timelines);
  page->AddHeading("Over time");
  if (images.size() == 1) {
    page->AddTimeline(MakeTimeline(run, *images[0], limits.timeline_points));
    return;
  }
  std::vector<PageContent::View> views;
  for (const MeasuredImage* image : images) {
    PageContent content;
    content.AddTimeline(MakeTimeline(
        run, *image, limits.timeline_points / (views.empty() ? 1 : 2)));
    views.push_back({absl::StrCat(image->process_id(), ": ",
                                  ShortCommand(*image, kMostCommandBytes)),
                     content});
  }
  page->AddViews("Process", views);
}

}  // namespace footprint

// Shows a figure over time for a page (page.h), coloured by what happened.
//
//   Timeline timeline;
//   timeline.title = "Live bytes";
//   timeline.series = {"read", "fit"};
//   timeline.points = {{0, 0, 0}, {1'000'000, 4096, 0}, {2'000'000, 512, 1}};
//   timeline.marked_point = 1;
//   timeline.marked_label = "peak";
//   std::string html = DrawTimeline(timeline);
//
// It is drawn for a wide screen and for a telephone. A script, which the page
// contains once, shows single points by mouse, finger and arrow keys. Text is
// escaped; equal data give equal bytes. Pure: the text has copies of the
// timeline's texts. Thread-safe. Memory: the text.

#ifndef FOOTPRINT_BASE_PAGE_TIMELINE_H_
#define FOOTPRINT_BASE_PAGE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace footprint {

struct Timeline {
  struct Point {
    int64_t time_ns = 0;
    int64_t bytes = 0;
    size_t series = 0;  // from this point to the next
  };

  std::string title;
  std::string description;
  // The names of the series, of which at most 8 have different colours. With
  // one series the picture has no legend.
  std::vector<std::string> series;
  std::vector<Point> points;  // time ascending
  // An index of `points`; points.size() or more marks nothing.
  size_t marked_point = 0;
  std::string marked_label;
};

// Returns the timeline as HTML.
std::string DrawTimeline(const Timeline& timeline);

namespace page_internal {

// The beginning of DrawTimeline's text. No other text of a page contains it.
inline constexpr char kTimelineBegin[] = "<figure class=\"timeline\">";
extern const char kTimelineStyle[];

}  // namespace page_internal

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_TIMELINE_H_

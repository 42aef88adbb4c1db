// A figure over time for a page (page.h), coloured by what went on.
//
//   Timeline timeline;
//   timeline.title = "Live bytes";
//   timeline.series = {"read", "fit"};
//   timeline.points = {{0, 0, 0}, {1'000'000, 4096, 0}, {2'000'000, 512, 1}};
//   timeline.marked_point = 1;
//   timeline.marked_label = "peak";
//   std::string html = DrawTimeline(timeline);
//
// Drawn for a wide screen and for a telephone; a script that the page holds
// once reads single points by mouse, finger and arrow keys. Text is escaped;
// equal data give equal bytes. Pure: the text has copies of what the timeline
// holds. Thread-safe. Memory: the text.

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
  // The names of the series, of which at most 8 are told apart by colour. One:
  // the picture has no legend.
  std::vector<std::string> series;
  std::vector<Point> points;  // time ascending
  size_t marked_point = 0;
  std::string marked_label;
};

std::string DrawTimeline(const Timeline& timeline);

namespace page_internal {

// How DrawTimeline begins: no other text of a page holds it.
inline constexpr char kTimelineBegin[] = "<figure class=\"timeline\">";
extern const char kTimelineStyle[];

}  // namespace page_internal

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_TIMELINE_H_

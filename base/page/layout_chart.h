// Shows the places of tensors in an arena over time, for a page (page.h).
//
//   LayoutChart chart;
//   chart.title = "Layout";
//   chart.boxes = {{"conv1", /*begin_step=*/0, /*end_step=*/4,
//                   /*offset_bytes=*/0, /*size_bytes=*/1024}};
//   std::string html = DrawLayoutChart(chart);
//
// StackBoxes gives offsets to boxes that have no place in memory and are only
// shown beside each other.
//
// Text is escaped; equal data give equal bytes. The functions keep nothing and
// are thread-safe. Memory: the text, the live bytes of each series at each
// step, and in StackBoxes some copies of the boxes.

#ifndef FOOTPRINT_BASE_PAGE_LAYOUT_CHART_H_
#define FOOTPRINT_BASE_PAGE_LAYOUT_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace footprint {

// The upper picture has a box for each tensor, over steps and bytes. The lower
// picture has the live bytes at each step, by series.
struct LayoutChart {
  struct Box {
    std::string label;
    int64_t begin_step = 0;
    int64_t end_step = 0;  // one past the last
    int64_t offset_bytes = 0;
    int64_t size_bytes = 0;
    size_t series = 0;
    bool is_marked = false;  // full colour and an outline; others are pale
  };

  // Steps that belong together, such as "forward".
  struct Span {
    std::string label;
    int64_t begin_step = 0;
    int64_t end_step = 0;  // one past the last
  };

  std::string title;
  std::string description;
  std::vector<std::string> series;  // at most 8 have different colours
  std::vector<Box> boxes;
  std::vector<Span> spans;  // drawn below the numbers of the steps
  // A step and a level of bytes, which lines mark and `marked_label` explains.
  int64_t marked_step = 0;
  int64_t marked_bytes = 0;
  std::string marked_label;
};

// Returns the chart as HTML.
std::string DrawLayoutChart(const LayoutChart& chart);

// Sets the offset of each box so that no two boxes that share a step overlap.
// To keep the picture low, each box gets the lowest offset that is free during
// its steps, in the best of several orders of the boxes. Returns false and
// changes nothing if the sizes add up to more bytes than an offset can hold.
// Time: at most the square of the number of boxes.
bool StackBoxes(std::vector<LayoutChart::Box>* boxes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_LAYOUT_CHART_H_

#include "footprint/base/page/layout_chart.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LayoutChart TwoBoxes() {
  LayoutChart chart;
  chart.title = "Layout";
  chart.series = {"weight", "gradient"};
  chart.boxes = {{"a<b", 0, 4, 0, 30, 0, true}, {"c", 2, 8, 30, 30, 1, false}};
  chart.marked_step = 2;
  chart.marked_bytes = 60;
  chart.marked_label = "lower bound";
  return chart;
}

TEST(LayoutChartTest, DrawsALayoutToScale) {
  const std::string html = DrawLayoutChart(TwoBoxes());
  // 0 to 8 steps are from 84 to 720, and 0 to 60 bytes from 430 up to 30.
  EXPECT_THAT(html, HasSubstr("class=\"box marked\" x=\"84.00\" y=\"230.00\" "
                              "width=\"318.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("class=\"box pale\" x=\"243.00\" y=\"30.00\" "
                              "width=\"477.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("a&lt;b (weight): 30 B at offset 0 B, from step "
                              "0 until before 4"));
  // Live bytes are from 634 up to 474: 30 bytes of the first box until step 4.
  // The 30 bytes of the second are on top of them from step 2, and come down at
  // step 4.
  EXPECT_THAT(html, HasSubstr("d=\"M84.00 634.00V554.00H402.00V634.00H720.00"
                              "V634.00Z\" style=\"fill:var(--c0)\"><title>"
                              "weight: at most 30 B"));
  EXPECT_THAT(html, HasSubstr("d=\"M84.00 554.00V554.00H243.00V474.00H402.00"
                              "V554.00H720.00V634.00H402.00V554.00Z\" "
                              "style=\"fill:var(--c1)\"><title>"
                              "gradient: at most 30 B"));
  EXPECT_THAT(html, HasSubstr(">lower bound</text>"));
}

// A letter takes 7, and the label needs one letter's room more, in a box of
// width 318.
TEST(LayoutChartTest, WritesALabelWhereItsBoxHasRoom) {
  LayoutChart chart = TwoBoxes();
  chart.boxes[0].label = std::string(44, 'x');
  EXPECT_THAT(DrawLayoutChart(chart),
              HasSubstr(">" + chart.boxes[0].label + "</text>"));
  chart.boxes[0].label += 'x';
  EXPECT_THAT(DrawLayoutChart(chart),
              Not(HasSubstr(chart.boxes[0].label + "</text>")));
}

// 10, 20 and 10 bytes of 40 are live in the layer below, from 634 up to 474.
TEST(LayoutChartTest, ALayerLiesOnEachStepOfTheOneBelow) {
  LayoutChart chart;
  chart.series = {"weight", "gradient"};
  chart.boxes = {
      {"a", 0, 6, 0, 10}, {"b", 2, 4, 10, 10}, {"c", 0, 6, 20, 20, 1}};
  EXPECT_THAT(DrawLayoutChart(chart),
              HasSubstr("d=\"M84.00 594.00V514.00H296.00V474.00H508.00V514.00"
                        "H720.00V594.00H508.00V554.00H296.00V594.00Z\" "
                        "style=\"fill:var(--c1)\""));
}

TEST(LayoutChartTest, DrawsNoOutlineThatWouldHideItsBox) {
  LayoutChart chart = TwoBoxes();
  EXPECT_THAT(DrawLayoutChart(chart), Not(HasSubstr(" thin\"")));
  chart.boxes.push_back({"thin", 0, 8, 6000, 10, 0, true});
  EXPECT_THAT(DrawLayoutChart(chart), HasSubstr("class=\"box marked thin\""));
}

TEST(LayoutChartTest, NamesWhatStepsBelongTo) {
  LayoutChart chart = TwoBoxes();
  EXPECT_THAT(DrawLayoutChart(chart), Not(HasSubstr("class=\"span\"")));
  chart.spans = {{"forward", 0, 4}, {"back<ward", 4, 8}};
  const std::string html = DrawLayoutChart(chart);
  // Each span has a bracket and a name in its middle, and a line separates
  // them.
  EXPECT_THAT(html, HasSubstr("M86.00 661.00V666.00H400.00V661.00"));
  EXPECT_THAT(html, HasSubstr("x=\"243.00\" y=\"684.00\" "
                              "text-anchor=\"middle\">forward</text>"));
  EXPECT_THAT(html, HasSubstr("M404.00 661.00V666.00H718.00V661.00"));
  EXPECT_THAT(html, HasSubstr(">back&lt;ward</text>"));
  EXPECT_THAT(html, HasSubstr("M402.00 30.00V634.00"));
}

TEST(LayoutChartTest, DrawsOneLayerWithoutSeries) {
  LayoutChart chart = TwoBoxes();
  chart.series.clear();
  chart.boxes[1].series = 0;
  EXPECT_THAT(DrawLayoutChart(chart),
              HasSubstr("class=\"live\" d=\"M84.00 634.00V554.00H243.00V474.00"
                        "H402.00V554.00H720.00V634.00Z\"><title>at most 60 B"));
}

TEST(LayoutChartTest, SaysBytesRoundedAndExact) {
  LayoutChart chart;
  chart.boxes = {{"w", 0, 4, 67108864, 1572864}};
  const std::string html = DrawLayoutChart(chart);
  EXPECT_THAT(html, HasSubstr("w: 1.50 MiB (1,572,864 B) at offset 64.0 MiB "
                              "(67,108,864 B), from step 0 until before 4"));
  EXPECT_THAT(html, HasSubstr("at most 1.50 MiB (1,572,864 B)</title>"));
}

TEST(LayoutChartTest, DrawsALayoutOfNothingAndOfTheLargestSizes) {
  EXPECT_THAT(DrawLayoutChart({}), Not(HasSubstr("nan")));
  LayoutChart chart;
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  chart.boxes = {{"a", 5, 6, 0, kMaximum}};
  chart.marked_bytes = kMaximum;
  EXPECT_THAT(DrawLayoutChart(chart), Not(HasSubstr("inf")));
}

// Expects that no two boxes that share a step share a byte.
void ExpectApart(const std::vector<LayoutChart::Box>& boxes) {
  for (const LayoutChart::Box& a : boxes) {
    for (const LayoutChart::Box& b : boxes) {
      if (&a == &b || a.end_step <= b.begin_step ||
          b.end_step <= a.begin_step) {
        continue;
      }
      EXPECT_TRUE(a.offset_bytes + a.size_bytes <= b.offset_bytes ||
                  b.offset_bytes + b.size_bytes <= a.offset_bytes)
          << a.label << " and " << b.label;
    }
  }
}

int64_t ComputeHeight(const std::vector<LayoutChart::Box>& boxes) {
  int64_t height_bytes = 0;
  for (const LayoutChart::Box& box : boxes) {
    EXPECT_GE(box.offset_bytes, 0);
    height_bytes = std::max(height_bytes, box.offset_bytes + box.size_bytes);
  }
  return height_bytes;
}

int64_t MostLiveBytes(const std::vector<LayoutChart::Box>& boxes) {
  int64_t most_bytes = 0;
  for (const LayoutChart::Box& start : boxes) {
    int64_t live_bytes = 0;
    for (const LayoutChart::Box& box : boxes) {
      const bool is_live =
          box.begin_step <= start.begin_step && start.begin_step < box.end_step;
      if (is_live) live_bytes += box.size_bytes;
    }
    most_bytes = std::max(most_bytes, live_bytes);
  }
  return most_bytes;
}

// Each of these needs another order. The large box of the first finds only two
// small holes if it comes late. The long boxes of the second would lie above
// the short one.
TEST(StackBoxesTest, NeedsNoMoreHeightThanIsLive) {
  const std::vector<std::vector<LayoutChart::Box>> stacks = {
      {{"first", 0, 3, 0, 1},
       {"second", 1, 4, 0, 1},
       {"third", 2, 3, 0, 1},
       {"large", 3, 4, 0, 2}},
      {{"short", 0, 1, 0, 3}, {"long", 0, 9, 0, 2}, {"late", 1, 9, 0, 3}},
      {{"a", 0, 2, 0, 5}, {"b", 2, 4, 0, 5}},
      {},
  };
  for (std::vector<LayoutChart::Box> boxes : stacks) {
    ASSERT_TRUE(StackBoxes(&boxes));
    ExpectApart(boxes);
    EXPECT_EQ(ComputeHeight(boxes), MostLiveBytes(boxes));
  }
}

TEST(StackBoxesTest, KeepsBoxesApartAndLow) {
  RandomSequence random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<LayoutChart::Box> boxes;
    for (int i = 0; i < 30; ++i) {
      LayoutChart::Box box;
      box.label = std::to_string(i);
      box.begin_step = static_cast<int64_t>(random.Next() % 20);
      box.end_step =
          box.begin_step + 1 + static_cast<int64_t>(random.Next() % 8);
      box.size_bytes = 1 + static_cast<int64_t>(random.Next() % 16);
      boxes.push_back(box);
    }
    ASSERT_TRUE(StackBoxes(&boxes));
    ExpectApart(boxes);
    EXPECT_LE(ComputeHeight(boxes), MostLiveBytes(boxes) * 3 / 2);
  }
}

TEST(StackBoxesTest, RefusesMoreBytesThanAnOffsetCanSay) {
  std::vector<LayoutChart::Box> boxes = {
      {"a", 0, 1, 0, std::numeric_limits<int64_t>::max()}, {"b", 0, 1, 7, 1}};
  EXPECT_FALSE(StackBoxes(&boxes));
  EXPECT_EQ(boxes[1].offset_bytes, 7);
}

}  // namespace
}  // namespace footprint

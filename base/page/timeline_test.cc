// Tests of timeline.h's promises. //profiling/run_page:browser_test tests how a
// reader chooses points in a browser.

#include "footprint/base/page/timeline.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Timeline ThreePoints() {
  Timeline timeline;
  timeline.title = "Live bytes";
  timeline.series = {"read", "fit"};
  timeline.points = {
      {0, 0, 0}, {1'000'000'000, 4096, 1}, {2'000'000'000, 512, 1}};
  timeline.marked_point = 1;
  timeline.marked_label = "peak";
  return timeline;
}

nlohmann::json ReadData(const std::string& html) {
  const std::string begin = "<script type=\"application/json\">";
  const size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(
      html.substr(from, html.find("</script>", from) - from));
}

size_t CountOccurrences(const std::string& html, const std::string& text) {
  size_t count = 0;
  for (size_t at = html.find(text); at != std::string::npos;
       at = html.find(text, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TimelineTest, DrawsEachRunOfOneSeriesForBothScreens) {
  const std::string html = DrawTimeline(ThreePoints());
  EXPECT_EQ(CountOccurrences(html, "class=\"area\""), 4u);
  EXPECT_EQ(CountOccurrences(html, "class=\"mark\""), 2u);
  EXPECT_EQ(CountOccurrences(html, "fill:var(--c0)"), 2u);
  EXPECT_EQ(CountOccurrences(html, "fill:var(--c1)"), 2u);
  EXPECT_THAT(html, HasSubstr("Live bytes: peak, 4.00 KiB (4,096 B)"));
}

// The plot of a wide screen is from 84 to 720, and from 308 up to 30.
TEST(TimelineTest, DrawsToScale) {
  EXPECT_THAT(DrawTimeline(ThreePoints()),
              HasSubstr("M84.0 308.0L402.0 30.0V308.00H84.00Z"));
}

// The second point is in the middle, between 0 s and 2 s.
TEST(TimelineTest, TheMarksLabelStaysInsideThePlot) {
  Timeline timeline = ThreePoints();
  const auto has = [&](const std::string& anchor) {
    return CountOccurrences(DrawTimeline(timeline),
                            "text-anchor=\"" + anchor + "\">peak</text>");
  };
  EXPECT_EQ(has("start"), 2u);
  timeline.marked_point = 2;
  EXPECT_EQ(has("end"), 2u);
}

TEST(TimelineTest, HandsTheScriptEveryPoint) {
  const nlohmann::json data = ReadData(DrawTimeline(ThreePoints()));
  EXPECT_EQ(data["times"], nlohmann::json({0, 1000000000, 2000000000}));
  EXPECT_EQ(data["bytes"], nlohmann::json({0, 4096, 512}));
  EXPECT_EQ(data["series"], nlohmann::json({0, 1, 1}));
  EXPECT_EQ(data["names"], nlohmann::json({"read", "fit"}));
  EXPECT_EQ(data["marked"], 1);
}

TEST(TimelineTest, EscapesText) {
  Timeline timeline = ThreePoints();
  const std::string evil = "</script><b>\"\xff";
  timeline.title = timeline.description = timeline.marked_label = evil;
  timeline.series = {evil, evil};
  const std::string html = DrawTimeline(timeline);
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_EQ(CountOccurrences(html, "</script>"), 1u);
  EXPECT_EQ(ReadData(html)["names"][0], "</script><b>\"\\xff");
}

TEST(TimelineTest, HoldsNothing) {
  EXPECT_TRUE(ReadData(DrawTimeline(Timeline()))["times"].empty());
}

}  // namespace
}  // namespace footprint

#include "footprint/trainer_manager/layout_picture.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(DrawPlanTest, DrawsABoxATensorToScale) {
  MemoryPlan plan;
  plan.offsets_bytes = {0, 30};
  plan.height_bytes = 60;
  plan.lower_bound = {60, LowerBound::Kind::kLiveBytes, 2, {0, 1}};
  const std::string html =
      DrawPlan({{"a<b", 0, 4, 30}, {"c", 2, 10, 30}}, plan, "x & y");
  EXPECT_NE(html.find("x=\"0.00\" y=\"300.00\" width=\"400.00\" "
                      "height=\"300.00\""),
            std::string::npos);
  EXPECT_NE(html.find("x=\"200.00\" y=\"0.00\" width=\"800.00\" "
                      "height=\"300.00\""),
            std::string::npos);
  EXPECT_NE(html.find("a&lt;b: 30 bytes at 0"), std::string::npos);
  EXPECT_NE(html.find("<h1>x &amp; y</h1>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST(DrawPlanTest, DrawsNothing) {
  EXPECT_NE(DrawPlan({}, MemoryPlan(), "empty").find("</svg>"),
            std::string::npos);
}

}  // namespace
}  // namespace footprint

#include "footprint/base/page/chart_drawing.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::page_internal {
namespace {

using ::testing::ElementsAre;

TEST(ChartDrawingTest, TextIsSafeAndShort) {
  EXPECT_EQ(Length(1.0 / 3), "0.33");
  EXPECT_EQ(Percent(0.25), "25 %");
  EXPECT_EQ(Percent(0.001), "<1 %");
  EXPECT_EQ(Percent(0), "0 %");
  EXPECT_EQ(Percent(0.99), "99 %");
  EXPECT_EQ(Percent(0.997), ">99 %");
  EXPECT_EQ(Percent(1), "100 %");
  EXPECT_EQ(Caption("a<b\x01", ""), "<figcaption>a&lt;b\\x01</figcaption>\n");
}

TEST(ChartDrawingTest, AnAxisBeginsAtZeroAndHasRoundTicks) {
  Axis axis(/*is_logarithmic=*/false, 0, 100);
  axis.Include(3);
  axis.Include(10);
  axis.Round();
  EXPECT_THAT(axis.Ticks(), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(axis.Place(5), 50);
  EXPECT_THAT(axis.Ticks(3), ElementsAre(0, 5, 10));
}

TEST(ChartDrawingTest, ALogarithmicAxisHasPowersOfTen) {
  Axis axis(/*is_logarithmic=*/true, 100, 0);
  EXPECT_FALSE(axis.Shows(0));
  axis.Include(0);
  axis.Include(2);
  axis.Include(500);
  axis.Round();
  EXPECT_THAT(axis.Ticks(), ElementsAre(1, 10, 100, 1000));
  EXPECT_EQ(axis.Place(1), 100);
  EXPECT_EQ(axis.Place(1000), 0);
}

TEST(ChartDrawingTest, AnAxisOfNothingHasAPlaceToo) {
  Axis axis(/*is_logarithmic=*/false, 0, 100);
  axis.Fit();
  EXPECT_EQ(axis.Place(0), 0);
  EXPECT_EQ(axis.Place(1), 100);
}

}  // namespace
}  // namespace footprint::page_internal

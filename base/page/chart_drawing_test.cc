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
  EXPECT_EQ(axis.ToPixel(5), 50);
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
  EXPECT_EQ(axis.ToPixel(1), 100);
  EXPECT_EQ(axis.ToPixel(1000), 0);
}

TEST(ChartDrawingTest, AnAxisOfNothingHasAPlaceToo) {
  Axis axis(/*is_logarithmic=*/false, 0, 100);
  axis.Fit();
  EXPECT_EQ(axis.ToPixel(0), 0);
  EXPECT_EQ(axis.ToPixel(1), 100);
}

TEST(ChartDrawingTest, AnAxisOfBytesHasPowersOfTwo) {
  Axis axis(/*is_logarithmic=*/true, 0, 100, /*base=*/2);
  axis.Include(5 << 20);
  axis.Include(60 << 20);
  axis.Round();
  EXPECT_THAT(axis.Ticks(),
              ElementsAre(4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20));
  EXPECT_EQ(axis.ToPixel(16 << 20), 50);
}

TEST(ChartDrawingTest, AnAxisBeginsAboveZeroWhereMostWouldBeEmpty) {
  Axis near(/*is_logarithmic=*/false, 0, 100);
  for (const double value : {191.6, 205.3}) near.Include(value);
  near.RoundClosely();
  EXPECT_EQ(near.low(), 185);
  EXPECT_THAT(near.Ticks(), ElementsAre(185, 190, 195, 200, 205, 210));
  EXPECT_GE(near.ToPixel(205.3) - near.ToPixel(191.6), 40);
  Axis far(/*is_logarithmic=*/false, 0, 100);
  for (const double value : {90, 205}) far.Include(value);
  far.RoundClosely();
  EXPECT_EQ(far.low(), 0);
  Axis equal(/*is_logarithmic=*/false, 0, 100);
  equal.Include(0.3);
  equal.RoundClosely();
  EXPECT_GT(equal.ToPixel(0.3), 20);
  EXPECT_LT(equal.ToPixel(0.3), 80);
}

}  // namespace
}  // namespace footprint::page_internal

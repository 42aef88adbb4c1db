#include "footprint/base/scaling/scaling_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Function = std::function<double(double features, double rows)>;

// Returns 3 x 3 cells that are decades apart.
std::vector<ScalingPoint> MakePoints(const Function& bytes) {
  std::vector<ScalingPoint> points;
  for (double features : {10.0, 100.0, 500.0}) {
    for (double rows : {1000.0, 10000.0, 100000.0}) {
      points.push_back({{features, rows}, bytes(features, rows)});
    }
  }
  return points;
}

std::string FitAndDescribe(const Function& bytes) {
  const absl::optional<ScalingLaw> law = FitScalingLaw(MakePoints(bytes));
  return law.has_value() ? LawText(*law, {"features", "rows"}) : "none";
}

TEST(ScalingLawTest, LawsThatHoldExactlyAreFound) {
  EXPECT_EQ(FitAndDescribe([](double, double) { return 0.0; }), "0");
  EXPECT_EQ(FitAndDescribe([](double, double) { return 32768.0; }), "32 KiB");
  EXPECT_EQ(FitAndDescribe([](double, double rows) { return 8 * rows; }),
            "8 B x rows");
  EXPECT_EQ(FitAndDescribe([](double f, double) { return 20 * f * f; }),
            "20 B x features^2");
  EXPECT_EQ(FitAndDescribe([](double f, double rows) { return 8 * f * rows; }),
            "8 B x features x rows");
  EXPECT_EQ(
      FitAndDescribe([](double f, double rows) { return 8 * (f + 1) * rows; }),
      "8 B x features x rows + 8 B x rows");
  EXPECT_EQ(FitAndDescribe([](double f, double rows) {
              return 1048576.0 + 8 * f * rows + 24 * rows;
            }),
            "8 B x features x rows + 24 B x rows + 1.0 MiB");
}

TEST(ScalingLawTest, ALawPredictsACellThatWasNotMeasured) {
  const absl::optional<ScalingLaw> law = FitScalingLaw(
      MakePoints([](double f, double rows) { return 4096 + 8 * f * rows; }));
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->At({1000, 1e6}), 8e9, 1e6);
  EXPECT_LT(law->worst_error, 1e-6);
  EXPECT_LT(law->left_out_error, 1e-6);
}

TEST(ScalingLawTest, NoiseGetsNoTerm) {
  int cell = 0;
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(MakePoints([&](double f, double rows) {
        return 8 * f * rows * (1 + (++cell % 2 == 0 ? 0.004 : -0.004));
      }));
  ASSERT_TRUE(law.has_value());
  ASSERT_EQ(law->terms.size(), 1u);
  EXPECT_EQ(law->terms[0].growth.factors, (std::vector<int>{0, 1}));
  EXPECT_GT(law->worst_error, 0.003);
  // Points that a law was fitted to are nearer to it.
  EXPECT_GT(law->left_out_error, 1.05 * 0.004);
  EXPECT_LT(law->worst_error, 0.01);
}

TEST(ScalingLawTest, WhatNoLawDescribesHasALargeError) {
  int cell = 0;
  const absl::optional<ScalingLaw> law = FitScalingLaw(
      MakePoints([&](double, double) { return ++cell % 2 == 0 ? 1e6 : 1e3; }));
  ASSERT_TRUE(law.has_value());
  EXPECT_GT(law->left_out_error, 0.3);
}

TEST(ScalingLawTest, FiguresOfNoAccountDecideNothing) {
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(MakePoints([](double f, double rows) {
        return f == 10 && rows == 1000 ? 0 : 8 * f * rows;
      }));
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(law->terms.size(), 1u);
}

TEST(ScalingLawTest, CoefficientsAreNeverNegative) {
  for (const Function& bytes : std::vector<Function>{
           [](double f, double rows) { return 8 * f * rows - 4000 * f; },
           [](double f, double rows) { return 1e9 - 8 * f * rows; },
           [](double f, double rows) { return std::sqrt(f * rows); }}) {
    const absl::optional<ScalingLaw> law = FitScalingLaw(MakePoints(bytes));
    ASSERT_TRUE(law.has_value());
    for (const ScalingLaw::Term& term : law->terms) {
      EXPECT_GT(term.coefficient, 0);
    }
  }
}

TEST(ScalingLawTest, AVariableThatDoesNotVaryStandsInNoLaw) {
  std::vector<ScalingPoint> points;
  for (double rows : {1.0, 2.0, 3.0, 4.0}) points.push_back({{7, rows}, rows});
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(LawText(*law, {"features", "rows"}), "1 B x rows");
  EXPECT_EQ(LawText(*law, {"features", "rows"}, LawUnit::kCount), "1 x rows");
}

std::vector<ScalingPoint> PointsOfOne(
    const std::vector<double>& sizes,
    const std::function<double(double size)>& bytes) {
  std::vector<ScalingPoint> points;
  for (double size : sizes) points.push_back({{size}, bytes(size)});
  return points;
}

double ComputeCapacity(double size) {
  double capacity = 1;
  while (capacity < size) capacity *= 2;
  return capacity;
}

TEST(ScalingLawTest, ABufferThatDoublesIsAStep) {
  const std::vector<ScalingPoint> points =
      PointsOfOne({100, 300, 700, 1500, 3000},
                  [](double rows) { return 4096 + 8 * ComputeCapacity(rows); });
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(LawText(*law, {"rows"}),
            "8 B x rows up to a power of two + 4.0 KiB");
  EXPECT_NEAR(law->At({30000}), 4096 + 8 * 32768, 1);
}

TEST(ScalingLawTest, AtPowersOfTwoAStepIsALineAndTheRangeHoldsBoth) {
  const std::vector<ScalingPoint> points =
      PointsOfOne({128, 256, 1024, 4096},
                  [](double rows) { return 8 * ComputeCapacity(rows); });
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(LawText(*law, {"rows"}), "8 B x rows");
  const absl::optional<ScalingPrediction> prediction =
      PredictByScalingLaw(points, {5000});
  ASSERT_TRUE(prediction.has_value());
  EXPECT_NEAR(prediction->value, 8 * 5000, 1);
  EXPECT_NEAR(prediction->high, 8 * 8192, 1);
}

// Returns points of a grid of features and rows that are level, and higher only
// at the largest number of rows.
std::vector<ScalingPoint> LevelAndRise(double noise) {
  std::vector<ScalingPoint> points;
  double sign = 1;
  for (double features : {10.0, 30.0, 100.0}) {
    for (double rows : {100.0, 1000.0, 10000.0}) {
      sign = -sign;
      points.push_back({{features, rows},
                        std::max(40000.0, 9.3 * rows) * (1 + sign * noise)});
    }
  }
  return points;
}

TEST(ScalingLawTest, ARiseInOneRowIsALineAndNoSquare) {
  for (double noise : {0.0, 0.002}) {
    const std::vector<ScalingPoint> points = LevelAndRise(noise);
    const absl::optional<ScalingLaw> law = FitScalingLaw(points);
    ASSERT_TRUE(law.has_value());
    for (const ScalingLaw::Term& term : law->terms) {
      EXPECT_LE(term.growth.factors.size(), 1u)
          << LawText(*law, {"features", "rows"});
      EXPECT_FALSE(term.growth.is_doubled);
    }
    EXPECT_EQ(law->highest_power(), 1);
    EXPECT_EQ(law->unproved_power, 2);
    // The true value is 930 kB; a square predicts 5.4 MB.
    EXPECT_LT(law->At({100, 100000}), 1e6);
    EXPECT_GT(law->At({100, 100000}), 5e5);
    // Nothing shows that it is not a square, so the range includes that.
    const absl::optional<ScalingPrediction> prediction =
        PredictByScalingLaw(points, {100, 100000});
    EXPECT_GT(prediction->high, 5e6);
    EXPECT_LT(prediction->low, 930000);
  }
}

TEST(ScalingLawTest, FourSizesTellASquareBesideALineAndAConstant) {
  for (const double constant : {10000.0, 1e6}) {
    const absl::optional<ScalingLaw> law = FitScalingLaw(
        PointsOfOne({1000, 2000, 4000, 8000}, [constant](double rows) {
          return constant + 8 * rows + 0.0001 * rows * rows;
        }));
    ASSERT_TRUE(law.has_value());
    EXPECT_THAT(LawText(*law, {"rows"}), testing::HasSubstr("rows^2"));
    EXPECT_EQ(law->highest_power(), 2);
  }
  // Noise of a thousandth does not make a square.
  int size = 0;
  const absl::optional<ScalingLaw> line =
      FitScalingLaw(PointsOfOne({1000, 2000, 4000, 8000}, [&size](double rows) {
        return (10000 + 8 * rows) * (++size % 2 == 0 ? 1.001 : 0.999);
      }));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->terms.size(), 2u) << LawText(*line, {"rows"});
  EXPECT_EQ(line->unproved_power, 0);
}

TEST(ScalingLawTest, ASortsScratchSpaceIsALogarithmTimesALine) {
  std::vector<double> sizes;
  for (double size = 1000; size <= 128000; size *= 2) sizes.push_back(size);
  const auto bytes = [](double n) { return 4096 + 8 * n * std::log2(n); };
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(PointsOfOne(sizes, bytes));
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(LawText(*law, {"n"}), "8 B x n x log2(n) + 4.0 KiB");
  EXPECT_LT(law->left_out_error, 1e-6);
  EXPECT_NEAR(law->At({1e6}) / bytes(1e6), 1, 1e-6);
}

TEST(ScalingLawTest, TheErrorAtTheLargestSizeIsOfTheLawWithoutIt) {
  // The smaller sizes give 100 x n; the largest is 1.25 times that.
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(PointsOfOne({10, 20, 40, 80}, [](double n) {
        return 100 * n * (n == 80 ? 1.25 : 1);
      }));
  ASSERT_TRUE(law.has_value());
  ASSERT_EQ(LawText(*law, {"n"}).find("^2"), std::string::npos);
  EXPECT_NEAR(law->largest_size_error, 0.2, 1e-9);
  const absl::optional<ScalingLaw> exact =
      FitScalingLaw(PointsOfOne({1, 2, 3}, [](double n) { return 8 * n; }));
  EXPECT_LT(exact->largest_size_error, 1e-9);
}

// The test predicts what a program needs at ten times its largest measured
// size.
TEST(ScalingLawTest, TenTimesTheLargestSizeIsPredictedWithinOneTwentieth) {
  for (const Function& bytes : std::vector<Function>{
           [](double, double) { return 65536.0; },
           [](double, double rows) { return 4096 + 8 * rows; },
           [](double f, double rows) { return 8 * f * rows; },
           [](double f, double rows) { return 8 * f * rows + 20 * f * f; },
           [](double f, double rows) { return 1e6 + 8 * f * rows; },
           [](double, double rows) { return 0.5 * rows * rows; },
           [](double, double rows) { return 8 * ComputeCapacity(rows); }}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      // Allocators round, so values are off by up to 0.2 %.
      RandomSequence random(seed);
      std::vector<ScalingPoint> points = MakePoints(bytes);
      for (ScalingPoint& point : points) {
        point.value *= 1 + 0.002 * (2 * random.Uniform() - 1);
      }
      const absl::optional<ScalingPrediction> prediction =
          PredictByScalingLaw(points, {5000, 1e6});
      ASSERT_TRUE(prediction.has_value());
      const double truth = bytes(5000, 1e6);
      EXPECT_NEAR(prediction->value / truth, 1, 0.05) << truth;
      EXPECT_LE(prediction->low, prediction->value);
      EXPECT_GE(prediction->high, prediction->value);
    }
  }
}

TEST(ScalingLawTest, ThePredictionsRangeHoldsTheTruth) {
  int held = 0;
  constexpr int kTrials = 100;
  for (uint64_t seed = 1; seed <= kTrials; ++seed) {
    RandomSequence random(seed);
    std::vector<ScalingPoint> points =
        MakePoints([](double f, double rows) { return 4096 + 8 * f * rows; });
    for (ScalingPoint& point : points) {
      point.value *= 1 + 0.01 * random.Normal();
    }
    const absl::optional<ScalingPrediction> prediction =
        PredictByScalingLaw(points, {5000, 1e6});
    ASSERT_TRUE(prediction.has_value());
    const double truth = 4096 + 8 * 5000 * 1e6;
    held += prediction->low <= truth && truth <= prediction->high ? 1 : 0;
  }
  EXPECT_GE(held, 95);
}

// The best constant is the sum of 1/y over the sum of 1/y^2, which is below the
// mean.
TEST(ScalingLawTest, ErrorsCountInProportionToTheirPoints) {
  int cell = 0;
  const absl::optional<ScalingLaw> law = FitScalingLaw(
      MakePoints([&](double, double) { return ++cell % 2 == 0 ? 110 : 90; }));
  ASSERT_TRUE(law.has_value());
  ASSERT_EQ(law->terms.size(), 1u);
  EXPECT_NEAR(law->At({1, 1}),
              (5.0 / 90 + 4.0 / 110) / (5.0 / (90 * 90) + 4.0 / (110 * 110)),
              0.01);
}

// If the 2 is left out, the constant is 1 and is off by half. If one of the
// others is left out, the constant is 1.2, as in the test above, and is off by
// a fifth.
TEST(ScalingLawTest, TheErrorIsTheRootOfTheMeanOfSquares) {
  const absl::optional<ScalingLaw> law =
      FitScalingLaw({{{7}, 1}, {{7}, 1}, {{7}, 2}});
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->left_out_error,
              std::sqrt((0.2 * 0.2 + 0.2 * 0.2 + 0.5 * 0.5) / 3), 1e-12);
}

TEST(ScalingLawTest, TheOrderOfPointsMeansNothing) {
  std::vector<ScalingPoint> points = PointsOfOne(
      {1000, 2000, 4000, 8000, 16000, 32000},
      [](double rows) { return rows == 32000 ? 8.4 * rows : 8 * rows; });
  const absl::optional<ScalingPrediction> forth =
      PredictByScalingLaw(points, {1e6});
  std::reverse(points.begin(), points.end());
  const absl::optional<ScalingPrediction> back =
      PredictByScalingLaw(points, {1e6});
  ASSERT_TRUE(forth.has_value() && back.has_value());
  EXPECT_NEAR(forth->low / back->low, 1, 1e-9);
  EXPECT_NEAR(forth->high / back->high, 1, 1e-9);
}

TEST(ScalingLawTest, LawsThatDescribeThePointsAsWellWidenTheRange) {
  // The sizes are too near to each other to distinguish a constant, a line and
  // a square.
  const absl::optional<ScalingPrediction> prediction = PredictByScalingLaw(
      PointsOfOne(
          {1000, 1001, 1002, 1003},
          [](double rows) { return 8 * rows + (rows == 1001 ? 40 : -40); }),
      {10000});
  ASSERT_TRUE(prediction.has_value());
  EXPECT_GT(prediction->high, 5 * prediction->low);
}

TEST(ScalingLawTest, NoPredictionWithoutALaw) {
  EXPECT_FALSE(PredictByScalingLaw({{{1}, 1}}, {10}).has_value());
  const absl::optional<ScalingPrediction> zero = PredictByScalingLaw(
      PointsOfOne({1, 2, 3}, [](double) { return 0.0; }), {10});
  ASSERT_TRUE(zero.has_value());
  EXPECT_EQ(zero->high, 0);
}

TEST(ScalingLawTest, FewPointsTellNothing) {
  const ScalingPoint point = {{1}, 1};
  EXPECT_FALSE(FitScalingLaw({}).has_value());
  EXPECT_FALSE(FitScalingLaw({point, {{2}, 2}}).has_value());
  const absl::optional<ScalingLaw> law =
      FitScalingLaw({point, {{2}, 2}, {{3}, 3}});
  ASSERT_TRUE(law.has_value());
  EXPECT_EQ(LawText(*law, {"n"}), "1 B x n");
}

}  // namespace
}  // namespace footprint

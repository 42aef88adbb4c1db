#include "footprint/profiling/scaling/scaling_law.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

using Function = std::function<double(double features, double rows)>;

// Over 3 x 3 cells that lie decades apart.
std::vector<ScalingPoint> PointsOf(const Function& bytes) {
  std::vector<ScalingPoint> points;
  for (double features : {10.0, 100.0, 500.0}) {
    for (double rows : {1000.0, 10000.0, 100000.0}) {
      points.push_back({{features, rows}, bytes(features, rows)});
    }
  }
  return points;
}

std::string LawOf(const Function& bytes) {
  const absl::optional<ScalingLaw> law = FitScalingLaw(PointsOf(bytes));
  return law.has_value() ? LawText(*law, {"features", "rows"}) : "none";
}

TEST(ScalingLawTest, LawsThatHoldExactlyAreFound) {
  EXPECT_EQ(LawOf([](double, double) { return 0.0; }), "0");
  EXPECT_EQ(LawOf([](double, double) { return 32768.0; }), "32 KiB");
  EXPECT_EQ(LawOf([](double, double rows) { return 8 * rows; }), "8 B x rows");
  EXPECT_EQ(LawOf([](double f, double) { return 20 * f * f; }),
            "20 B x features^2");
  EXPECT_EQ(LawOf([](double f, double rows) { return 8 * f * rows; }),
            "8 B x features x rows");
  EXPECT_EQ(LawOf([](double f, double rows) { return 8 * (f + 1) * rows; }),
            "8 B x features x rows + 8 B x rows");
  EXPECT_EQ(LawOf([](double f, double rows) {
              return 1048576.0 + 8 * f * rows + 24 * rows;
            }),
            "8 B x features x rows + 24 B x rows + 1.0 MiB");
}

TEST(ScalingLawTest, ALawPredictsACellThatWasNotMeasured) {
  const absl::optional<ScalingLaw> law = FitScalingLaw(
      PointsOf([](double f, double rows) { return 4096 + 8 * f * rows; }));
  ASSERT_TRUE(law.has_value());
  EXPECT_NEAR(law->At({1000, 1e6}), 8e9, 1e6);
  EXPECT_LT(law->worst_error, 1e-6);
  EXPECT_LT(law->left_out_error, 1e-6);
}

TEST(ScalingLawTest, NoiseGetsNoTerm) {
  int cell = 0;
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(PointsOf([&](double f, double rows) {
        return 8 * f * rows * (1 + (++cell % 2 == 0 ? 0.004 : -0.004));
      }));
  ASSERT_TRUE(law.has_value());
  ASSERT_EQ(law->terms.size(), 1u);
  EXPECT_EQ(law->terms[0].factors, (std::vector<int>{0, 1}));
  EXPECT_GT(law->worst_error, 0.003);
  EXPECT_LT(law->worst_error, 0.01);
}

TEST(ScalingLawTest, WhatNoLawDescribesHasALargeError) {
  int cell = 0;
  const absl::optional<ScalingLaw> law = FitScalingLaw(
      PointsOf([&](double, double) { return ++cell % 2 == 0 ? 1e6 : 1e3; }));
  ASSERT_TRUE(law.has_value());
  EXPECT_GT(law->left_out_error, 0.3);
}

TEST(ScalingLawTest, FiguresOfNoAccountDecideNothing) {
  const absl::optional<ScalingLaw> law =
      FitScalingLaw(PointsOf([](double f, double rows) {
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
    const absl::optional<ScalingLaw> law = FitScalingLaw(PointsOf(bytes));
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

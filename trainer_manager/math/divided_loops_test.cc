#include "footprint/trainer_manager/math/divided_loops.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

TEST(DividedLoopsTest, AddsArraysAlsoInPlace) {
  std::vector<float> first = {1, 2, 3};
  const std::vector<float> second = {10, 20, 30};
  AddArrays(ReferenceMath(), 3, first.data(), second.data(), first.data());
  EXPECT_THAT(first, ElementsAre(11, 22, 33));
}

TEST(DividedLoopsTest, SumsEachColumn) {
  const std::vector<float> matrix = {1, 2, 3, 10, 20, 30};
  std::vector<float> sums = {-1, -1, -1};
  SumRows(ReferenceMath(), 2, 3, matrix.data(), sums.data());
  EXPECT_THAT(sums, ElementsAre(11, 22, 33));
}

TEST(DividedLoopsTest, AddsTheVectorToEachRow) {
  std::vector<float> matrix = {1, 2, 3, 10, 20, 30};
  const std::vector<float> vector = {100, 200, 300};
  AddToRows(ReferenceMath(), 2, 3, vector.data(), matrix.data());
  EXPECT_THAT(matrix, ElementsAre(101, 202, 303, 110, 220, 330));
}

TEST(DividedLoopsTest, ThreadsGiveTheBitsOfOneThread) {
  constexpr int64_t kRows = 301;
  constexpr int64_t kColumns = 203;
  std::vector<float> matrix;
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    matrix.push_back(static_cast<float>(i * 7919 % 2003 - 1001) / 1009.0f);
  }
  std::vector<float> sums(kColumns);
  SumRows(ReferenceMath(), kRows, kColumns, matrix.data(), sums.data());
  std::vector<float> added = matrix;
  AddToRows(ReferenceMath(), kRows, kColumns, sums.data(), added.data());
  std::vector<float> doubled(matrix.size());
  const auto elements = static_cast<int64_t>(matrix.size());
  AddArrays(ReferenceMath(), elements, matrix.data(), matrix.data(),
            doubled.data());
  for (const int threads : {2, 3, 7}) {
    const std::unique_ptr<const MathBackend> team = MakeTeamBackend(threads);
    std::vector<float> team_sums(kColumns, -1.0f);
    SumRows(*team, kRows, kColumns, matrix.data(), team_sums.data());
    EXPECT_EQ(team_sums, sums) << threads;
    std::vector<float> team_added = matrix;
    AddToRows(*team, kRows, kColumns, sums.data(), team_added.data());
    EXPECT_EQ(team_added, added) << threads;
    std::vector<float> team_doubled(matrix.size());
    AddArrays(*team, elements, matrix.data(), matrix.data(),
              team_doubled.data());
    EXPECT_EQ(team_doubled, doubled) << threads;
  }
}

}  // namespace
}  // namespace footprint

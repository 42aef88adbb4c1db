#include "footprint/memo/product/axis.h"

#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Model {
  std::string path;
};

absl::StatusOr<Model> Load(const std::string& path) {
  if (path == "missing") return absl::NotFoundError("no such file");
  return Model{path};
}

// Returns the texts of a row's arguments.
template <typename Row>
std::vector<std::string> ListTexts(const Row& row) {
  return std::apply(
      [](const auto&... argument) {
        return std::vector<std::string>{argument.text()...};
      },
      row);
}
template <typename AnyCells>
std::vector<std::vector<std::string>> AllTexts(const AnyCells& cells) {
  std::vector<std::vector<std::string>> texts;
  for (const auto& row : cells.rows) texts.push_back(ListTexts(row));
  return texts;
}

TEST(AxisTest, MakesAMemoForEachPathAndLoadsNothingYet) {
  int load_count = 0;
  const auto axis = MakeAxis<Model>("model", {"one", "two", "missing"},
                                    [&](const std::string& path) {
                                      ++load_count;
                                      return Load(path);
                                    });
  ASSERT_THAT(axis, IsOk());
  EXPECT_EQ(axis->name, "model");
  ASSERT_EQ(axis->memos.size(), 3u);
  EXPECT_EQ(load_count, 0);
  EXPECT_EQ((*axis->memos[1].Get())->path, "two");
  EXPECT_EQ(axis->memos[1].statistics().source_path, "two");
  EXPECT_THAT(axis->memos[2].Get(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(load_count, 2);
}

TEST(AxisTest, TheLoadMayReturnTheValueItself) {
  const auto axis = MakeAxis<Model>(
      "model", {"plain"}, [](const std::string& path) { return Model{path}; },
      /*declared_bytes=*/77);
  ASSERT_THAT(axis, IsOk());
  EXPECT_EQ((*axis->memos[0].Get())->path, "plain");
  EXPECT_EQ(axis->memos[0].statistics().declared_bytes, 77);
}

TEST(AxisTest, APathIsOneMemo) {
  EXPECT_THAT(MakeAxis<Model>("model", {"twice", "twice"}, Load),
              StatusIs(absl::StatusCode::kAlreadyExists));
  // The failed call destroyed the memo that it had made.
  EXPECT_THAT(MakeAxis<Model>("model", {"twice"}, Load), IsOk());
}

TEST(AxisTest, TextsOfPlainValues) {
  EXPECT_EQ(CellArgument<int>(-8).text(), "-8");
  EXPECT_EQ(CellArgument<bool>(true).text(), "true");
  EXPECT_EQ(CellArgument<double>(0.5).text(), "0.5");
  EXPECT_EQ(CellArgument<std::string>("fast").text(), "fast");
  EXPECT_EQ(*CellArgument<int>(-8).value(), -8);
  EXPECT_FALSE(CellArgument<int>(-8).memo().has_value());
}

TEST(AxisTest, ZipGoesThroughAxesTogether) {
  const auto zipped = Zip(MakeAxis<Model>("model", {"small", "large"}, Load),
                          ValueAxis<int>{"batch", {1, 8}},
                          ValueAxis<bool>{"fast", {false, true}});
  ASSERT_THAT(zipped, IsOk());
  EXPECT_THAT(zipped->names, ElementsAre("model", "batch", "fast"));
  EXPECT_THAT(AllTexts(*zipped),
              ElementsAre(ElementsAre("small", "1", "false"),
                          ElementsAre("large", "8", "true")));
}

TEST(AxisTest, AZipOfDifferentLengthsIsRefused) {
  const auto zipped =
      Zip(ValueAxis<int>{"batch", {1, 8}}, ValueAxis<int>{"thread", {1, 2, 3}});
  EXPECT_THAT(zipped, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(zipped.status().message()),
              HasSubstr("\"batch\" has 2 entries where \"thread\" has 3"));
}

TEST(AxisTest, AnAxisThatFailedIsPassedOn) {
  const absl::StatusOr<ValueAxis<int>> failed = absl::DataLossError("gone");
  EXPECT_THAT(Zip(failed, ValueAxis<int>{"batch", {1}}),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(memo_internal::Cross(ValueAxis<int>{"batch", {1}}, failed),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(AxisTest, CellsAreTakenAsTheyAre) {
  const auto axis = MakeAxis<Model>("model", {"a", "b"}, Load);
  ASSERT_THAT(axis, IsOk());
  const Memo<Model>& a = axis->memos[0];
  const Memo<Model>& b = axis->memos[1];
  const Cells<Model, int> cells{{"model", "batch"}, {{a, 1}, {b, 8}, {b, 1}}};
  const auto crossed = memo_internal::Cross(cells);
  ASSERT_THAT(crossed, IsOk());
  EXPECT_THAT(AllTexts(*crossed),
              ElementsAre(ElementsAre("a", "1"), ElementsAre("b", "8"),
                          ElementsAre("b", "1")));
}

// Compares with loops by index, for random lengths.
TEST(AxisTest, CombinationsAreThoseOfNestedLoops) {
  std::mt19937 random(15);
  const auto axis_of = [&](const std::string& name, int count) {
    ValueAxis<int> axis{name, {}};
    for (int i = 0; i < count; ++i) axis.values.push_back(i);
    return axis;
  };
  for (int round = 0; round < 200; ++round) {
    const int a = static_cast<int>(random() % 5);
    const int b = static_cast<int>(random() % 5);
    const int c = static_cast<int>(random() % 5);
    std::vector<std::vector<std::string>> expected;
    std::vector<std::vector<std::string>> expected_zipped;
    for (int i = 0; i < a; ++i) {
      for (int j = 0; j < b; ++j) {
        for (int k = 0; k < c; ++k) {
          expected.push_back(
              {absl::StrCat(i), absl::StrCat(j), absl::StrCat(k)});
        }
        expected_zipped.push_back(
            {absl::StrCat(i), absl::StrCat(j), absl::StrCat(j)});
      }
    }
    const auto crossed =
        memo_internal::Cross(axis_of("a", a), axis_of("b", b), axis_of("c", c));
    ASSERT_THAT(crossed, IsOk());
    EXPECT_EQ(AllTexts(*crossed), expected);
    EXPECT_THAT(crossed->names, ElementsAre("a", "b", "c"));
    const auto mixed = memo_internal::Cross(
        axis_of("a", a), Zip(axis_of("b", b), axis_of("c", b)));
    ASSERT_THAT(mixed, IsOk());
    EXPECT_EQ(AllTexts(*mixed), expected_zipped);
  }
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/weights/column_blocks.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Returns the column blocks of the only tensor "m", which has that shape and
// size.
absl::StatusOr<ColumnBlocks> FindIn(const std::string& metadata,
                                    const std::string& shape,
                                    size_t bytes = 48) {
  const std::string header = absl::StrCat(
      R"({"__metadata__":{)", metadata, R"(},"m":{"dtype":"U8","shape":)",
      shape, R"(,"data_offsets":[0,)", bytes, "]}}");
  const std::string path = WriteTestFile(
      "panels.safetensors", SafetensorsBytes(header, std::string(bytes, 'x')));
  const auto index = SafetensorsIndex::Open(path);
  EXPECT_THAT(index, IsOk());
  return FindColumnBlocks(*index, *index->FindOrNull("m"));
}

TEST(PanelsTest, SayTheShapeBeforePacking) {
  const auto blocks = FindIn(R"("panels:m":"4x10/4")", "[3,4,4]");
  ASSERT_THAT(blocks, IsOk());
  EXPECT_THAT(blocks->shape.extents(), ElementsAre(4, 10));
  EXPECT_EQ(blocks->block_columns, 4);
}

TEST(PanelsTest, AreOneWhereNothingIsSaid) {
  const auto matrix = FindIn(R"("panels:other":"4x10/4")", "[4,12]");
  ASSERT_THAT(matrix, IsOk());
  EXPECT_THAT(matrix->shape.extents(), ElementsAre(4, 12));
  EXPECT_EQ(matrix->block_columns, 12);
  const auto cube = FindIn("", "[3,4,4]");
  ASSERT_THAT(cube, IsOk());
  EXPECT_THAT(cube->shape.extents(), ElementsAre(3, 4, 4));
  EXPECT_EQ(cube->block_columns, 4);
}

TEST(PanelsTest, OfAScalarAreOneColumnWide) {
  const std::string path = WriteTestFile(
      "scalar.safetensors",
      SafetensorsBytes(
          R"({"s":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", "x"));
  const auto index = SafetensorsIndex::Open(path);
  ASSERT_THAT(index, IsOk());
  const auto blocks = FindColumnBlocks(*index, *index->FindOrNull("s"));
  ASSERT_THAT(blocks, IsOk());
  EXPECT_EQ(blocks->shape.rank(), 0);
  EXPECT_EQ(blocks->block_columns, 1);
}

TEST(PanelsTest, AreRefusedWhereTheyDisagreeWithTheTensor) {
  for (const char* text :
       {"4x10/5",  "4x8/4",   "4x13/4",          "3x10/4",
        "4x10/0",  "4x10",    "4x10/4x1",        "",
        "x/",      "-4x10/4", "4x-10/4",         "4x10/-4",
        "4x10/4 ", " 4x10/4", "+4x10/4",         "04x10/4",
        "4/10/4",  "4x10x4",  "4x99999999999/4", "99999999999999999999x10/4"}) {
    const auto blocks =
        FindIn(absl::StrCat(R"("panels:m":")", text, "\""), "[3,4,4]");
    EXPECT_THAT(blocks, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(blocks.status().message(),
                AllOf(HasSubstr("panels:m"), HasSubstr("[3, 4, 4]"),
                      HasSubstr("pack the original file again")));
  }
}

TEST(PanelsTest, ReadWhatTheyWrite) {
  const auto blocks = FindIn(absl::StrCat("\"", ColumnBlocksKey("m"), "\":\"",
                                          ColumnBlocksText(2, 12, 8), "\""),
                             "[2,2,12]");
  EXPECT_THAT(blocks, Not(IsOk()));
  const auto fitting = FindIn(absl::StrCat("\"", ColumnBlocksKey("m"), "\":\"",
                                           ColumnBlocksText(3, 15, 8), "\""),
                              "[2,3,8]");
  ASSERT_THAT(fitting, IsOk());
  EXPECT_THAT(fitting->shape.extents(), ElementsAre(3, 15));
  EXPECT_EQ(fitting->block_columns, 8);
  const auto empty = FindIn(absl::StrCat("\"", ColumnBlocksKey("m"), "\":\"",
                                         ColumnBlocksText(0, 15, 8), "\""),
                            "[2,0,8]", 0);
  ASSERT_THAT(empty, IsOk());
  EXPECT_THAT(empty->shape.extents(), ElementsAre(0, 15));
}

}  // namespace
}  // namespace footprint

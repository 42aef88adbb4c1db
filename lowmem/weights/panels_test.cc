#include "footprint/lowmem/weights/panels.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// What a file says that has the one tensor "m" of that shape, 48 bytes.
absl::StatusOr<Panels> FindIn(const std::string& metadata,
                              const std::string& shape) {
  const std::string header = absl::StrCat(R"({"__metadata__":{)", metadata,
                                          R"(},"m":{"dtype":"U8","shape":)",
                                          shape, R"(,"data_offsets":[0,48]}})");
  const std::string path = WriteTestFile(
      "panels.safetensors", SafetensorsBytes(header, std::string(48, 'x')));
  const auto index = SafetensorsIndex::Open(path);
  EXPECT_TRUE(index.ok()) << index.status();
  return FindPanels(*index, *index->FindOrNull("m"));
}

TEST(PanelsTest, SayTheShapeBeforePacking) {
  const auto panels = FindIn(R"("panels:m":"4x10/4")", "[3,4,4]");
  ASSERT_TRUE(panels.ok()) << panels.status();
  EXPECT_THAT(panels->shape.extents(), ElementsAre(4, 10));
  EXPECT_EQ(panels->panel_columns, 4);
}

TEST(PanelsTest, AreOneWhereNothingIsSaid) {
  const auto matrix = FindIn(R"("panels:other":"4x10/4")", "[4,12]");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->shape.extents(), ElementsAre(4, 12));
  EXPECT_EQ(matrix->panel_columns, 12);
  const auto cube = FindIn("", "[3,4,4]");
  ASSERT_TRUE(cube.ok()) << cube.status();
  EXPECT_THAT(cube->shape.extents(), ElementsAre(3, 4, 4));
  EXPECT_EQ(cube->panel_columns, 4);
}

TEST(PanelsTest, OfAScalarAreOneColumnWide) {
  const std::string path = WriteTestFile(
      "scalar.safetensors",
      SafetensorsBytes(
          R"({"s":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", "x"));
  const auto index = SafetensorsIndex::Open(path);
  ASSERT_TRUE(index.ok()) << index.status();
  const auto panels = FindPanels(*index, *index->FindOrNull("s"));
  ASSERT_TRUE(panels.ok()) << panels.status();
  EXPECT_EQ(panels->shape.rank(), 0);
  EXPECT_EQ(panels->panel_columns, 1);
}

TEST(PanelsTest, AreRefusedWhereTheyDisagreeWithTheTensor) {
  for (const char* text :
       {"4x10/5",  "4x8/4",   "4x13/4",          "3x10/4",
        "4x10/0",  "4x10",    "4x10/4x1",        "",
        "x/",      "-4x10/4", "4x-10/4",         "4x10/-4",
        "4x10/4 ", " 4x10/4", "+4x10/4",         "04x10/4",
        "4/10/4",  "4x10x4",  "4x99999999999/4", "99999999999999999999x10/4"}) {
    const auto panels =
        FindIn(absl::StrCat(R"("panels:m":")", text, "\""), "[3,4,4]");
    EXPECT_EQ(panels.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(panels.status().message(),
                AllOf(HasSubstr("panels:m"), HasSubstr("[3, 4, 4]"),
                      HasSubstr("pack the original file again")));
  }
}

TEST(PanelsTest, ReadWhatTheyWrite) {
  const auto panels = FindIn(
      absl::StrCat("\"", PanelsKey("m"), "\":\"", PanelsText(2, 12, 8), "\""),
      "[2,2,12]");
  EXPECT_FALSE(panels.ok());
  const auto fitting = FindIn(
      absl::StrCat("\"", PanelsKey("m"), "\":\"", PanelsText(3, 15, 8), "\""),
      "[2,3,8]");
  ASSERT_TRUE(fitting.ok()) << fitting.status();
  EXPECT_THAT(fitting->shape.extents(), ElementsAre(3, 15));
  EXPECT_EQ(fitting->panel_columns, 8);
}

}  // namespace
}  // namespace footprint

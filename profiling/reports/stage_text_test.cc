#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/reports/text_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

MeasuredImage Image() {
  MeasuredImage image;
  image.set_peak_live_bytes(1000);
  image.set_allocated_bytes(4000);
  image.add_stages();
  return image;
}

StageFigures* Add(const std::string& name, StageFigures::Kind kind,
                  uint32_t parent, int64_t peak_bytes, MeasuredImage* image) {
  StageFigures* const stage = image->add_stages();
  stage->set_name(name);
  stage->set_kind(kind);
  stage->set_parent(parent);
  stage->set_peak_live_bytes(peak_bytes);
  return stage;
}

size_t ColumnOf(const std::string& text, size_t at) {
  return at - (text.rfind('\n', at) + 1);
}

TEST(StageTextTest, IsEmptyWithoutStages) {
  EXPECT_EQ(StageText(MeasuredImage()), "");
  EXPECT_EQ(StageText(Image()), "");
}

TEST(StageTextTest, StandsAsATreeWithMostFirst) {
  MeasuredImage image = Image();
  Add("numpy", StageFigures::IMPORT, 0, 100, &image);
  StageFigures* const fit = Add("fit", StageFigures::NAMED, 0, 500, &image);
  fit->set_allocated_bytes(1000);
  fit->set_visit_count(3);
  fit->set_wall_time_ns(1500000000);
  fit->set_was_left_open(true);
  Add("a\nb.csv", StageFigures::FILE, 2, 20, &image);
  const std::string text = StageText(image);
  const size_t fit_at = text.find("fit (left open)");
  const size_t file_at = text.find("file a");
  const size_t numpy_at = text.find("import numpy");
  ASSERT_NE(fit_at, std::string::npos);
  ASSERT_NE(file_at, std::string::npos);
  ASSERT_NE(numpy_at, std::string::npos);
  EXPECT_LT(fit_at, file_at);
  EXPECT_LT(file_at, numpy_at);
  // Deeper than what it is inside of.
  EXPECT_EQ(ColumnOf(text, file_at), ColumnOf(text, fit_at) + 2);
  EXPECT_EQ(ColumnOf(text, numpy_at), ColumnOf(text, fit_at));
  EXPECT_THAT(text, HasSubstr("50.0 %"));
  EXPECT_THAT(text, HasSubstr("25.0 %"));
  EXPECT_THAT(text, HasSubstr("1.500 s"));
  EXPECT_THAT(text, Not(HasSubstr("a\nb")));
}

TEST(StageTextTest, WhatNeededLittleIsCountedOnly) {
  MeasuredImage image = Image();
  for (int i = 0; i < 100; ++i) {
    Add(absl::StrCat("m", i), StageFigures::IMPORT, 0, 1, &image);
  }
  Add("named", StageFigures::NAMED, 0, 0, &image);
  const std::string text = StageText(image);
  EXPECT_THAT(text, HasSubstr("named"));
  EXPECT_THAT(text, HasSubstr("and 100 stages that needed less"));
  EXPECT_THAT(text, Not(HasSubstr("import")));
}

TEST(StageTextTest, WhatOnlyPassesBytesThroughIsShown) {
  MeasuredImage image = Image();
  Add("decompress", StageFigures::IMPORT, 0, 1, &image)
      ->set_allocated_bytes(2000);
  EXPECT_THAT(StageText(image), HasSubstr("import decompress"));
}

}  // namespace
}  // namespace footprint

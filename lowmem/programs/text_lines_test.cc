#include "footprint/lowmem/programs/text_lines.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns the texts, and the messages of errors in brackets.
std::vector<std::string> TextsOf(const std::string& content, bool is_json) {
  WriteTestFile("lines.txt", content);
  auto lines = TextLines::Open(TestPath("lines.txt"), is_json);
  EXPECT_THAT(lines, IsOk());
  std::vector<std::string> texts;
  while (lines->Next()) {
    const auto text = lines->Text();
    texts.push_back(
        text.ok() ? *text : "[" + std::string(text.status().message()) + "]");
    EXPECT_EQ(lines->number(), static_cast<int64_t>(texts.size()));
  }
  EXPECT_THAT(lines->status(), IsOk());
  return texts;
}

TEST(TextLinesTest, ReadsEveryLine) {
  EXPECT_THAT(TextsOf("", false), IsEmpty());
  EXPECT_THAT(TextsOf("\n", false), ElementsAre(""));
  EXPECT_THAT(TextsOf("one\n\ntwo", false), ElementsAre("one", "", "two"));
  EXPECT_THAT(TextsOf("one\r\ntwo\r\n", false), ElementsAre("one", "two"));
  EXPECT_THAT(TextsOf(std::string("a\0b\xff\n", 5), false),
              ElementsAre(std::string("a\0b\xff", 4)));
}

TEST(TextLinesTest, ReadsStringsOfJson) {
  EXPECT_THAT(TextsOf("\"a\\nb\"\r\n\"\"\n", true), ElementsAre("a\nb", ""));
  EXPECT_THAT(TextsOf("no\n\n5\n\"yes\"", true),
              ElementsAre("[is not a JSON string]", "[is not a JSON string]",
                          "[is not a JSON string]", "yes"));
}

TEST(TextLinesTest, RefusesALongLineAndReadsTheNext) {
  const std::string longest(size_t{16} << 20, 'a');
  EXPECT_THAT(TextsOf(longest + "\nb\n", false), ElementsAre(longest, "b"));
  EXPECT_THAT(TextsOf(longest + "a\nb\n", false),
              ElementsAre(HasSubstr("longer than"), "b"));
}

TEST(TextLinesTest, NamesThePlace) {
  WriteTestFile("lines.txt", "a\nb\n");
  auto lines = TextLines::Open(TestPath("lines.txt"), false);
  ASSERT_THAT(lines, IsOk());
  EXPECT_TRUE(lines->Next() && lines->Next());
  EXPECT_THAT(lines->Place(), HasSubstr("lines.txt: line 2: "));
  EXPECT_FALSE(lines->Next());
  EXPECT_THAT(TextLines::Open(TestPath("missing"), false),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(TextLines::Open(TestPath(""), false),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint::lowmem_internal

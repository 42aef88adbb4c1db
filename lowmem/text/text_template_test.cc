#include "footprint/lowmem/text/text_template.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<TextTemplate> Parse(const std::string& json) {
  return TextTemplate::Parse(nlohmann::json::parse(json));
}

constexpr char kTemplate[] = R"({
  "type": "TemplateProcessing",
  "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
             {"Sequence": {"id": "A", "type_id": 2}}],
  "pair": [{"Sequence": {"id": "B", "type_id": 1}},
           {"SpecialToken": {"id": "<s>", "type_id": 3}},
           {"Sequence": {"id": "A", "type_id": 0}}],
  "special_tokens": {"<s>": {"id": "<s>", "ids": [8, 9]}}})";

TEST(TextTemplateTest, LeavesTextsAsTheyAreWhereNothingIsSaid) {
  for (const char* json : {"null", R"({"type": "ByteLevel"})"}) {
    const auto around = Parse(json);
    ASSERT_THAT(around, IsOk());
    EXPECT_THAT(around->Join({4, 5}).ids, ElementsAre(4, 5));
    const auto pair = around->Join({4, 5}, {6});
    ASSERT_THAT(pair, IsOk());
    EXPECT_THAT(pair->ids, ElementsAre(4, 5, 6));
    EXPECT_THAT(pair->types, ElementsAre(0, 0, 1));
    EXPECT_EQ(around->CountAdded(true), 0);
  }
}

TEST(TextTemplateTest, FollowsTheTemplate) {
  const auto around = Parse(kTemplate);
  ASSERT_THAT(around, IsOk());
  EXPECT_THAT(around->Join({4}).ids, ElementsAre(8, 9, 4));
  EXPECT_THAT(around->Join({4}).types, ElementsAre(0, 0, 2));
  const auto pair = around->Join({4}, {5, 6});
  ASSERT_THAT(pair, IsOk());
  EXPECT_THAT(pair->ids, ElementsAre(5, 6, 8, 9, 4));
  EXPECT_THAT(pair->types, ElementsAre(1, 1, 3, 3, 0));
  EXPECT_EQ(around->CountAdded(false), 2);
  EXPECT_EQ(around->CountAdded(true), 2);
}

TEST(TextTemplateTest, APairWithoutATemplateLosesNoId) {
  const auto around = Parse(R"({"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [8]}}})");
  ASSERT_THAT(around, IsOk());
  EXPECT_THAT(around->Join({4}).ids, ElementsAre(8, 4));
  const auto pair = around->Join({4}, {5, 6});
  ASSERT_THAT(pair, IsOk());
  EXPECT_THAT(pair->ids, ElementsAre(4, 5, 6));
  EXPECT_THAT(pair->types, ElementsAre(0, 1, 1));
}

TEST(TextTemplateTest, KnowsBertAndRoberta) {
  const auto bert = Parse(
      R"({"type": "BertProcessing", "cls": ["[C]", 1], "sep": ["[S]", 2]})");
  ASSERT_THAT(bert, IsOk());
  EXPECT_THAT(bert->Join({4}).ids, ElementsAre(1, 4, 2));
  EXPECT_THAT(bert->Join({4}, {5})->ids, ElementsAre(1, 4, 2, 5, 2));
  EXPECT_THAT(bert->Join({4}, {5})->types, ElementsAre(0, 0, 0, 1, 1));
  const auto roberta = Parse(
      R"({"type": "Sequence", "processors": [{"type": "ByteLevel"},
          {"type": "RobertaProcessing", "cls": ["s", 1], "sep": ["e", 2]}]})");
  ASSERT_THAT(roberta, IsOk());
  EXPECT_THAT(roberta->Join({4}, {5})->ids, ElementsAre(1, 4, 2, 2, 5, 2));
  EXPECT_THAT(roberta->Join({4}, {5})->types, ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(roberta->CountAdded(false), 2);
  EXPECT_EQ(roberta->CountAdded(true), 4);
}

TEST(TextTemplateTest, PutsOneTemplateIntoTheNext) {
  const auto twice = TextTemplate::Parse(
      {{"type", "Sequence"},
       {"processors",
        {nlohmann::json::parse(kTemplate),
         {{"type", "BertProcessing"}, {"cls", {"c", 1}}, {"sep", {"s", 2}}}}}});
  ASSERT_THAT(twice, IsOk());
  EXPECT_THAT(twice->Join({4}).ids, ElementsAre(1, 8, 9, 4, 2));
  EXPECT_THAT(twice->Join({4}, {5}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(TextTemplateTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Parse(R"({"type": "Odd"})").status().message(),
              HasSubstr("\"Odd\" is unknown"));
  EXPECT_THAT(Parse(R"({"type": "BertProcessing"})").status().message(),
              HasSubstr("no cls and sep"));
  EXPECT_THAT(Parse(R"({"type": "TemplateProcessing",
                        "single": [{"SpecialToken": {"id": "<x>"}}]})")
                  .status()
                  .message(),
              HasSubstr("no ids of its special token \"<x>\""));
  for (const char* id : {"-1", "1.5", "\"1\"", "3000000000"}) {
    EXPECT_THAT(Parse(absl::StrCat(
                          R"({"type": "TemplateProcessing",
                              "single": [{"SpecialToken": {"id": "<x>"}}],
                              "special_tokens": {"<x>": {"ids": [1, )",
                          id, "]}}}"))
                    .status()
                    .message(),
                HasSubstr("an id of its special token \"<x>\" that is no"))
        << id;
  }
}

}  // namespace
}  // namespace footprint

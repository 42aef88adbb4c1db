#include "footprint/lowmem/models/sentence_pooling.h"

#include <sys/stat.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

using Kind = SentencePooling::Kind;

std::vector<float> Pooled(Kind kind) {
  const std::vector<float> states = {1, 8, 5, 0, 3, 4};  // three tokens of two
  std::vector<float> vector(2);
  PoolStates(kind, states, absl::MakeSpan(vector));
  return vector;
}

TEST(PoolStatesTest, PoolsEachFeature) {
  EXPECT_THAT(Pooled(Kind::kMean), ElementsAre(3, 4));
  EXPECT_THAT(Pooled(Kind::kFirst), ElementsAre(1, 8));
  EXPECT_THAT(Pooled(Kind::kLast), ElementsAre(3, 4));
  EXPECT_THAT(Pooled(Kind::kLargest), ElementsAre(5, 8));
  EXPECT_THAT(
      Pooled(Kind::kMeanByRoot),
      ElementsAre(FloatEq(9 / std::sqrt(3.0f)), FloatEq(12 / std::sqrt(3.0f))));
  EXPECT_THAT(Pooled(Kind::kWeightedMean),
              ElementsAre(FloatEq(20 / 6.0f), FloatEq(20 / 6.0f)));
}

TEST(NormaliseVectorTest, MakesTheLengthOneUnlessItIsZero) {
  std::vector<float> vector = {3, 4};
  NormaliseVector(absl::MakeSpan(vector));
  EXPECT_THAT(vector, ElementsAre(FloatEq(0.6f), FloatEq(0.8f)));
  vector = {0, 0};
  NormaliseVector(absl::MakeSpan(vector));
  EXPECT_THAT(vector, ElementsAre(0, 0));
}

// Makes a folder with these files.
std::string Folder(const std::string& modules, const std::string& mode) {
  const std::string folder = TestPath("sentence");
  mkdir(folder.c_str(), 0777);
  mkdir((folder + "/1_Pooling").c_str(), 0777);
  EXPECT_THAT(ReplaceFile(folder + "/modules.json", modules, ToDisk::kNoFsync),
              IsOk());
  EXPECT_THAT(
      ReplaceFile(folder + "/1_Pooling/config.json", mode, ToDisk::kNoFsync),
      IsOk());
  return folder;
}

constexpr char kModules[] = R"([
  {"path": "", "type": "sentence_transformers.models.Transformer"},
  {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";
constexpr char kNormalised[] = R"([
  {"path": "", "type": "Transformer"},
  {"path": "1_Pooling", "type": "Pooling"},
  {"path": "2_Normalize", "type": "Normalize"}])";

TEST(ReadSentencePoolingTest, ReadsWhatTheModulesSay) {
  const auto cls =
      ReadSentencePooling(Folder(kModules, R"({"pooling_mode_cls_token": true,
                    "pooling_mode_mean_tokens": false})"));
  ASSERT_THAT(cls, IsOk());
  EXPECT_EQ(cls->kind, Kind::kFirst);
  EXPECT_STREQ(PoolingName(cls->kind), "cls");
  EXPECT_FALSE(cls->normalises);
  EXPECT_TRUE(cls->is_stated);
  const auto last = ReadSentencePooling(
      Folder(kNormalised, R"({"pooling_mode_lasttoken": true})"));
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(last->kind, Kind::kLast);
  EXPECT_STREQ(PoolingName(last->kind), "lasttoken");
  EXPECT_TRUE(last->normalises);
  EXPECT_EQ(last->most_tokens, 0);
}

TEST(ReadSentencePoolingTest, TakesTheMeanWhereNothingIsSaid) {
  const auto pooling = ReadSentencePooling("/nowhere");
  ASSERT_THAT(pooling, IsOk());
  EXPECT_EQ(pooling->kind, Kind::kMean);
  EXPECT_FALSE(pooling->normalises);
  EXPECT_FALSE(pooling->is_stated);
}

TEST(ReadSentencePoolingTest, RefusesWhatItDoesNotKnow) {
  const auto fault = [](const char* modules, const char* mode) {
    return std::string(
        ReadSentencePooling(Folder(modules, mode)).status().message());
  };
  EXPECT_THAT(fault(R"([{"type": "a.Dense", "path": "2_Dense"}])", "{}"),
              HasSubstr("module \"a.Dense\" is unknown there"));
  EXPECT_THAT(fault(R"([{"type": "a.CNN", "path": "2_CNN"}])", "{}"),
              HasSubstr("module \"a.CNN\" is unknown there"));
  EXPECT_THAT(fault(R"([{"type": "a.Pooling", "path": "1_Pooling"},
                        {"type": "b.Pooling", "path": "1_Pooling"}])",
                    R"({"pooling_mode_cls_token": true})"),
              HasSubstr("module \"b.Pooling\" is unknown there"));
  EXPECT_THAT(fault("[]", "{}"), HasSubstr("has no Pooling"));
  EXPECT_THAT(fault("{}", "{}"), HasSubstr("is not a JSON list"));
  EXPECT_THAT(fault("[3, null]", "{}"), HasSubstr("module \"\" is unknown"));
  EXPECT_THAT(fault(kModules, "{}"), HasSubstr("has 0 pooling modes"));
  EXPECT_THAT(fault(kModules, R"({"pooling_mode_cls_token": true,
                                  "pooling_mode_max_tokens": true})"),
              HasSubstr("has 2 pooling modes"));
  EXPECT_THAT(fault(kModules, R"({"pooling_mode": "odd"})"),
              HasSubstr("pooling_mode is \"odd\""));
}

// Adds a file to the folder that Folder made.
void AddFile(const std::string& folder, const std::string& name,
             const std::string& text) {
  EXPECT_THAT(
      ReplaceFile(absl::StrCat(folder, "/", name), text, ToDisk::kNoFsync),
      IsOk());
}

TEST(ReadSentencePoolingTest, ReadsOlderAndNewerForms) {
  const std::string folder =
      Folder(R"([{"type": "Transformer", "path": "0_Transformer"},
                 {"type": "Pooling", "path": "1_Pooling"},
                 {"type": "Dense", "path": "2_Dense"},
                 {"type": "Dropout", "path": "3_Dropout"}])",
             R"({"pooling_mode": "weightedmean"})");
  mkdir((folder + "/0_Transformer").c_str(), 0777);
  AddFile(folder, "0_Transformer/sentence_roberta_config.json",
          R"({"max_seq_length": 77, "do_lower_case": true})");
  const auto pooling = ReadSentencePooling(folder);
  ASSERT_THAT(pooling, IsOk());
  EXPECT_EQ(pooling->kind, Kind::kWeightedMean);
  EXPECT_EQ(pooling->model_folder, folder + "/0_Transformer");
  EXPECT_THAT(pooling->dense, ElementsAre(folder + "/2_Dense"));
  EXPECT_EQ(pooling->most_tokens, 77);
  EXPECT_TRUE(pooling->lowers);
}

TEST(ReadSentencePoolingTest, TakesTheTokenizersLimitWhereNoOtherIsSaid) {
  const std::string folder =
      Folder(kModules, R"({"pooling_mode_cls_token": true})");
  AddFile(folder, "tokenizer_config.json", R"({"model_max_length": 512})");
  EXPECT_EQ(ReadSentencePooling(folder)->most_tokens, 512);
  AddFile(folder, "tokenizer_config.json",
          R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(ReadSentencePooling(folder)->most_tokens, 0);
  AddFile(folder, "tokenizer_config.json", "[]");
  EXPECT_THAT(ReadSentencePooling(folder),
              StatusIs(absl::StatusCode::kInvalidArgument));
  AddFile(folder, "tokenizer_config.json", "{}");
}

TEST(ReadSentencePoolingTest, FindsPrompts) {
  const std::string folder =
      Folder(kModules, R"({"pooling_mode_cls_token": true})");
  AddFile(folder, "config_sentence_transformers.json",
          R"({"prompts": {"query": "q: ", "text": ""},
              "default_prompt_name": null})");
  EXPECT_EQ(ReadSentencePooling(folder)->prompt, "");
  EXPECT_EQ(ReadSentencePooling(folder, "query")->prompt, "q: ");
  const auto missing = ReadSentencePooling(folder, "odd");
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(missing.status().message(),
              HasSubstr("has no prompt \"odd\"; it has query, text"));
  AddFile(folder, "config_sentence_transformers.json",
          R"({"prompts": {"query": "q: "}, "default_prompt_name": "query"})");
  EXPECT_EQ(ReadSentencePooling(folder)->prompt, "q: ");
  AddFile(folder, "1_Pooling/config.json",
          R"({"pooling_mode_cls_token": true, "include_prompt": false})");
  EXPECT_THAT(ReadSentencePooling(folder).status().message(),
              HasSubstr("include_prompt"));
}

}  // namespace
}  // namespace footprint

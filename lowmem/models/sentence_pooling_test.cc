#include "footprint/lowmem/models/sentence_pooling.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
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

std::vector<float> Pooled(Kind kind, bool normalises) {
  SentencePooling pooling;
  pooling.kind = kind;
  pooling.normalises = normalises;
  const std::vector<float> states = {1, 8, 5, 0, 3, 4};  // three tokens of two
  std::vector<float> vector(2);
  PoolStates(pooling, states, absl::MakeSpan(vector));
  return vector;
}

TEST(PoolStatesTest, PoolsEachFeature) {
  EXPECT_THAT(Pooled(Kind::kMean, false), ElementsAre(3, 4));
  EXPECT_THAT(Pooled(Kind::kFirst, false), ElementsAre(1, 8));
  EXPECT_THAT(Pooled(Kind::kLast, false), ElementsAre(3, 4));
  EXPECT_THAT(Pooled(Kind::kLargest, false), ElementsAre(5, 8));
  EXPECT_THAT(Pooled(Kind::kMean, true),
              ElementsAre(FloatEq(0.6f), FloatEq(0.8f)));
}

TEST(PoolStatesTest, LeavesAVectorOfZeros) {
  SentencePooling pooling;
  pooling.normalises = true;
  std::vector<float> vector(2);
  PoolStates(pooling, {0, 0, 0, 0}, absl::MakeSpan(vector));
  EXPECT_THAT(vector, ElementsAre(0, 0));
}

// A folder with these files.
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
  EXPECT_FALSE(cls->normalises);
  EXPECT_TRUE(cls->is_stated);
  const auto last = ReadSentencePooling(
      Folder(kNormalised, R"({"pooling_mode_lasttoken": true})"));
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(last->kind, Kind::kLast);
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
              HasSubstr("module \"a.Dense\" is unknown"));
  EXPECT_THAT(fault("[]", "{}"), HasSubstr("has no Pooling"));
  EXPECT_THAT(fault("{}", "{}"), HasSubstr("is no JSON list"));
  EXPECT_THAT(fault("[3, null]", "{}"), HasSubstr("module \"\" is unknown"));
  EXPECT_THAT(fault(kModules, "{}"), HasSubstr("has 0 pooling modes"));
  EXPECT_THAT(fault(kModules, R"({"pooling_mode_cls_token": true,
                                  "pooling_mode_max_tokens": true})"),
              HasSubstr("has 2 pooling modes"));
  EXPECT_THAT(fault(kModules, R"({"pooling_mode_weightedmean_tokens": true})"),
              HasSubstr("weightedmean"));
}

}  // namespace
}  // namespace footprint

// Compares vectors of texts with those of transformers in double precision from
// testdata/testdata/make_golden_embedder.py.

#include "footprint/lowmem/models/text_embedder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr char kFolder[] = "lowmem/models/testdata/golden_embedder";

class TextEmbedderGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(TextEmbedderGoldenTest, GivesTheVectorsOfTransformers) {
  const std::string folder =
      absl::StrCat("lowmem/models/testdata/", GetParam());
  const std::string expected = ReadTestFile(folder + "/expected.jsonl");
  for (const WeightBackend backend : kWeightBackends) {
    const auto embedder = TextEmbedder::Open(folder, backend);
    ASSERT_THAT(embedder, IsOk());
    EXPECT_EQ((*embedder)->most_tokens(), 24);
    EXPECT_EQ((*embedder)->features(), 32);
    const int64_t least = *(*embedder)->MinBudgetBytes(24, 2);
    EXPECT_EQ((*embedder)->ChooseBudget(24, 2)->least_bytes, least);
    ASSERT_THAT((*embedder)->Start(24, 2, least), IsOk());
    int cut_texts = 0;
    for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
      if (line.empty()) continue;
      const nlohmann::json entry = nlohmann::json::parse(line);
      bool is_cut = false;
      const auto ids =
          (*embedder)->Encode(entry[0].get<std::string>(), &is_cut);
      ASSERT_THAT(ids, IsOk());
      EXPECT_EQ(ids->ids, entry[1].get<std::vector<int32_t>>());
      cut_texts += is_cut ? 1 : 0;
      const auto vector = (*embedder)->Embed(*ids);
      ASSERT_THAT(vector, IsOk());
      ASSERT_EQ(vector->size(), 32u);
      for (size_t i = 0; i < vector->size(); ++i) {
        EXPECT_NEAR((*vector)[i], entry[2][i].get<double>(), 1e-6) << line;
      }
    }
    EXPECT_EQ(cut_texts, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TextEmbedderGoldenTest,
                         testing::Values("golden_embedder",
                                         "golden_decoder_embedder"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Tests heads of classifiers, Dense modules and bidirectional models from
// make_golden_heads.py and make_golden_bidirectional.py in testdata/testdata.
class TextEmbedderLayersTest : public testing::TestWithParam<const char*> {};

TEST_P(TextEmbedderLayersTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const std::string folder =
      absl::StrCat("lowmem/models/testdata/", GetParam());
  TextEmbedderOptions options;
  options.gives_scores = absl::StrContains(folder, "head");
  for (const WeightBackend backend : kWeightBackends) {
    const auto embedder = TextEmbedder::Open(folder, backend, options);
    ASSERT_THAT(embedder, IsOk());
    EXPECT_EQ((*embedder)->most_tokens(), 24);
    ASSERT_THAT((*embedder)->Start(24, 2, 1 << 20), IsOk());
    double largest = 0;
    double torch_error = 0;
    const std::string expected = ReadTestFile(folder + "/expected.jsonl");
    for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
      if (line.empty()) continue;
      const nlohmann::json entry = nlohmann::json::parse(line);
      const std::string text = entry[0];
      const auto ids =
          entry[1].is_null()
              ? (*embedder)->Encode(text)
              : (*embedder)->EncodePair(text, entry[1].get<std::string>());
      ASSERT_THAT(ids, IsOk());
      EXPECT_EQ(ids->ids, entry[2].get<std::vector<int32_t>>()) << line;
      if (entry[3].is_null()) {
        EXPECT_TRUE(ids->types.empty());
      } else {
        EXPECT_EQ(ids->types, entry[3].get<std::vector<int32_t>>()) << line;
      }
      const auto vector = (*embedder)->Embed(*ids);
      ASSERT_THAT(vector, IsOk());
      ASSERT_EQ(vector->size(), entry[4].size());
      for (size_t i = 0; i < vector->size(); ++i) {
        largest = std::max(largest,
                           std::abs((*vector)[i] - entry[4][i].get<double>()));
      }
      torch_error = std::max(torch_error, entry[5].get<double>());
    }
    EXPECT_GT(torch_error, 1e-8);
    EXPECT_LE(largest, 2 * torch_error);
    RecordProperty("largest_error", absl::StrCat(largest));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, TextEmbedderLayersTest,
    testing::Values("golden_head_bert", "golden_head_roberta",
                    "golden_head_distilbert", "golden_head_mpnet",
                    "golden_dense_embedder", "golden_modernbert",
                    "golden_nomic_bert", "golden_embeddinggemma"),
    [](const auto& info) { return std::string(info.param); });

TEST(TextEmbedderTest, HasScoresOfHeadsAlone) {
  TextEmbedderOptions options;
  options.gives_scores = true;
  const auto encoder =
      TextEmbedder::Open(kFolder, WeightBackend::kPread, options);
  EXPECT_THAT(encoder, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(encoder.status().message(),
              testing::HasSubstr("scores need a model with a classifier"));
  EXPECT_THAT(
      TextEmbedder::Open("lowmem/models/testdata/golden_decoder_embedder",
                         WeightBackend::kPread, options),
      StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(TextEmbedderTest, RefusesABudgetThatHasNoRoom) {
  const auto embedder = TextEmbedder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(embedder, IsOk());
  const int64_t least = *(*embedder)->MinBudgetBytes(24, 1);
  EXPECT_THAT((*embedder)->Start(24, 1, least - 1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT((*embedder)->Start(24, 1, least,
                                 [&](int64_t peak_bytes) {
                                   EXPECT_EQ(peak_bytes, least);
                                   return absl::CancelledError("no");
                                 }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(TextEmbedderTest, EmbedsNothingBeforeItStarts) {
  const auto embedder = TextEmbedder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(embedder, IsOk());
  EXPECT_THAT((*embedder)->Embed({{1}, {}}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*embedder)->Encode("\xff"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Copies files of a model of testdata into a new folder, and returns its path.
std::string CopyModel(const std::string& model, const std::string& to,
                      const std::vector<std::string>& files) {
  const std::string folder = TestPath(to);
  mkdir(folder.c_str(), 0777);
  for (const std::string& file : files) {
    const size_t end = file.rfind('/');
    if (end != std::string::npos) {
      mkdir(absl::StrCat(folder, "/", file.substr(0, end)).c_str(), 0777);
    }
    const std::string text =
        ReadTestFile(absl::StrCat("lowmem/models/testdata/", model, "/", file));
    EXPECT_THAT(
        ReplaceFile(absl::StrCat(folder, "/", file), text, ToDisk::kNoFsync),
        IsOk());
  }
  return folder;
}

TEST(TextEmbedderTest, ReturnsNoVectorThatIsNotFinite) {
  const std::string folder = CopyModel(
      "golden_dense_embedder", "damaged_dense",
      {"config.json", "model.safetensors", "tokenizer.json", "modules.json",
       "sentence_bert_config.json", "1_Pooling/config.json",
       "2_Dense/config.json", "2_Dense/model.safetensors",
       "3_Dense/config.json", "3_Dense/model.safetensors"});
  const std::string file = folder + "/3_Dense/model.safetensors";
  std::string bytes = ReadTestFile(file);
  // The file ends with a weight.
  const float bad = NAN;
  memcpy(&bytes[bytes.size() - sizeof(bad)], &bad, sizeof(bad));
  ASSERT_THAT(ReplaceFile(file, bytes, ToDisk::kNoFsync), IsOk());
  const auto embedder = TextEmbedder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(embedder, IsOk());
  ASSERT_THAT((*embedder)->Start(24, 2, 1 << 20), IsOk());
  EXPECT_THAT((*embedder)->Embed(*(*embedder)->Encode("a")),
              StatusIs(absl::StatusCode::kDataLoss,
                       testing::HasSubstr("Dense modules")));
}

TEST(TextEmbedderTest, WantsTheLastTokenOfADecoder) {
  const std::string folder =
      CopyModel("golden_decoder_embedder", "decoder_without_modules",
                {"config.json", "tokenizer.json"});
  const auto embedder = TextEmbedder::Open(folder, WeightBackend::kPread);
  EXPECT_THAT(embedder, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(embedder.status().message(),
              testing::HasSubstr("known by the last token alone; without "
                                 "modules.json the pooling is mean"));
}

}  // namespace
}  // namespace footprint

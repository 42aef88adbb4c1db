// Vectors of texts against those of transformers in double precision, which
// testdata/testdata/make_golden_embedder.py made.

#include "footprint/lowmem/models/text_embedder.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr char kFolder[] = "lowmem/models/testdata/golden_embedder";

TEST(TextEmbedderTest, GivesTheVectorsOfTransformers) {
  const std::string expected =
      ReadTestFile(std::string(kFolder) + "/expected.jsonl");
  for (const WeightBackend backend : kWeightBackends) {
    const auto embedder = TextEmbedder::Open(kFolder, backend);
    ASSERT_THAT(embedder, IsOk());
    EXPECT_EQ((*embedder)->most_tokens(), 24);
    EXPECT_EQ((*embedder)->features(), 32);
    const int64_t least = *(*embedder)->encoder().MinBudgetBytes(24, 2);
    const auto plan = (*embedder)->encoder().Plan(24, 2, least);
    ASSERT_THAT(plan, IsOk());
    ASSERT_THAT((*embedder)->Start(*plan), IsOk());
    int cut_texts = 0;
    for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
      if (line.empty()) continue;
      const nlohmann::json entry = nlohmann::json::parse(line);
      bool is_cut = false;
      const auto ids =
          (*embedder)->Encode(entry[0].get<std::string>(), &is_cut);
      ASSERT_THAT(ids, IsOk());
      EXPECT_EQ(*ids, entry[1].get<std::vector<int32_t>>());
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

TEST(TextEmbedderTest, EmbedsNothingBeforeItStarts) {
  const auto embedder = TextEmbedder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(embedder, IsOk());
  EXPECT_THAT((*embedder)->Embed({1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*embedder)->Encode("\xff"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint

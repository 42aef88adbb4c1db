// Compares log-likelihoods with those of transformers in double precision from
// testdata/testdata/make_golden_scores.py.

#include "footprint/lowmem/models/token_scores.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::IsEmpty;

constexpr char kFolder[] = "lowmem/models/testdata/golden_scores";

TEST(ScoreTokensTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const auto decoder = Decoder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const auto plan = (*decoder)->Plan(64, 2, *(*decoder)->MinBudgetBytes(64, 2));
  ASSERT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  ASSERT_THAT(run, IsOk());
  double largest = 0;
  double torch_error = 0;
  const std::string expected =
      ReadTestFile(absl::StrCat(kFolder, "/expected.jsonl"));
  for (const absl::string_view line : absl::StrSplit(expected, '\n')) {
    if (line.empty()) continue;
    const nlohmann::json entry = nlohmann::json::parse(line);
    (*run)->Clear();
    const auto scores =
        ScoreTokens(**run, entry[1].get<std::vector<int32_t>>());
    ASSERT_THAT(scores, IsOk());
    ASSERT_EQ(scores->size(), entry[2].size());
    for (size_t i = 0; i < scores->size(); ++i) {
      largest =
          std::max(largest, std::abs((*scores)[i] - entry[2][i].get<double>()));
    }
    torch_error = std::max(torch_error, entry[3].get<double>());
  }
  EXPECT_GT(torch_error, 1e-8);
  EXPECT_LE(largest, 2 * torch_error);
  RecordProperty("largest_error", absl::StrCat(largest));
  (*run)->Clear();
  EXPECT_THAT(ScoreTokens(**run, {1}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(ScoreTokens(**run, {}), IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace footprint

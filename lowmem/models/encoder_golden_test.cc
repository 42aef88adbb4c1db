// Compares the encoder of each family with results that numpy computed in
// double precision. The error of PyTorch's float32 is the measure.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

template <class T>
std::vector<T> ReadAll(WeightStore& store, const std::string& name) {
  const auto weight = store.Find(name);
  EXPECT_THAT(weight, IsOk());
  std::vector<T> values(weight->rows() * weight->columns());
  const auto tile = weight->Rows(0, weight->rows());
  EXPECT_THAT(store.Read(*tile, values.data()), IsOk());
  return values;
}

struct GoldenFamily {
  std::string folder;
  EncoderFamily family;
};

void ExpectAtMostTwicePyTorchsError(const GoldenFamily& golden) {
  const std::string folder =
      absl::StrCat("lowmem/models/testdata/", golden.folder);
  const auto expected = WeightStore::Open(
      absl::StrCat(folder, "/expected.safetensors"), WeightBackend::kPread);
  ASSERT_THAT(expected, IsOk());
  const auto states = ReadAll<double>(**expected, "states");
  const auto wide_ids = ReadAll<int64_t>(**expected, "ids");
  std::vector<int64_t> wide_types;
  if (golden.family == EncoderFamily::kBert ||
      golden.family == EncoderFamily::kRoberta) {
    wide_types = ReadAll<int64_t>(**expected, "token_types");
  }
  const double torch_error =
      ReadAll<double>(**expected, "torch_float32_error")[0];
  ASSERT_GT(torch_error, 1e-8);
  const std::vector<int32_t> ids(wide_ids.begin(), wide_ids.end());
  const std::vector<int32_t> types(wide_types.begin(), wide_types.end());
  const int64_t tokens = static_cast<int64_t>(ids.size());

  const auto encoder = Encoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(encoder, IsOk());
  ASSERT_EQ((*encoder)->config().family, golden.family);
  ASSERT_EQ(states.size(), ids.size() * (*encoder)->config().hidden);
  const auto budget = (*encoder)->MinBudgetBytes(tokens, 2);
  const auto run = (*encoder)->Start(*(*encoder)->Plan(tokens, 2, *budget));
  ASSERT_THAT(run, IsOk());
  ForEachVectorTarget([&](bool) {
    const auto actual = (*run)->Forward(ids, types);
    ASSERT_THAT(actual, IsOk());
    double largest = 0;
    for (size_t i = 0; i < states.size(); ++i) {
      largest = std::max(largest, std::abs((*actual)[i] - states[i]));
    }
    EXPECT_LE(largest, 2 * torch_error);
    testing::Test::RecordProperty("largest_error", absl::StrCat(largest));
  });
}

TEST(EncoderGoldenTest, BertErrsAtMostTwiceAsMuchAsPyTorch) {
  ExpectAtMostTwicePyTorchsError({"golden_bert", EncoderFamily::kBert});
}

TEST(EncoderGoldenTest, DistilBertErrsAtMostTwiceAsMuchAsPyTorch) {
  ExpectAtMostTwicePyTorchsError(
      {"golden_distilbert", EncoderFamily::kDistilBert});
}

// Padding stands between the tokens, which moves the positions after it.
TEST(EncoderGoldenTest, RobertaErrsAtMostTwiceAsMuchAsPyTorch) {
  ExpectAtMostTwicePyTorchsError({"golden_roberta", EncoderFamily::kRoberta});
}

// The text has 200 tokens: short distances with a bucket of their own, and long
// ones that share a bucket.
TEST(EncoderGoldenTest, MpnetErrsAtMostTwiceAsMuchAsPyTorch) {
  ExpectAtMostTwicePyTorchsError({"golden_mpnet", EncoderFamily::kMpnet});
}

}  // namespace
}  // namespace footprint

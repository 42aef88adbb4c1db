// The decoders against numbers in double precision, of numpy (GPT-2) and of
// transformers' own code, with the error that PyTorch's float32 has on them as
// the measure. The makers of both lie in testdata/testdata.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kTestData[] = "lowmem/models/testdata/golden_";

template <class T>
std::vector<T> ReadAll(WeightStore& store, const std::string& name) {
  const auto weight = store.Find(name);
  EXPECT_THAT(weight, IsOk());
  std::vector<T> values(weight->rows() * weight->columns());
  const auto tile = weight->Rows(0, weight->rows());
  EXPECT_THAT(store.Read(*tile, values.data()), IsOk());
  return values;
}

// The numbers that the reference computed.
struct Expected {
  std::vector<int32_t> ids;
  // The tokens after which there are logits, in order.
  std::vector<int64_t> after;
  std::vector<double> logits;
  double torch_error = 0;
};

Expected ReadExpected(const std::string& folder) {
  const auto store = WeightStore::Open(folder + "/expected.safetensors",
                                       WeightBackend::kPread);
  EXPECT_THAT(store, IsOk());
  Expected expected;
  for (const int64_t id : ReadAll<int64_t>(**store, "ids")) {
    expected.ids.push_back(static_cast<int32_t>(id));
  }
  expected.logits = ReadAll<double>(**store, "logits");
  expected.torch_error = ReadAll<double>(**store, "torch_float32_error")[0];
  if ((*store)->Find("after").ok()) {
    expected.after = ReadAll<int64_t>(**store, "after");
  } else {
    for (size_t i = 0; i < expected.ids.size(); ++i) {
      expected.after.push_back(static_cast<int64_t>(i));
    }
  }
  return expected;
}

class DecoderGoldenTest : public testing::TestWithParam<const char*> {};

// Between the tokens whose logits are asked for, the text is read in one call.
TEST_P(DecoderGoldenTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const std::string folder = absl::StrCat(kTestData, GetParam());
  const Expected expected = ReadExpected(folder);
  ASSERT_GT(expected.torch_error, 1e-8);
  const auto decoder = Decoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const size_t vocabulary = (*decoder)->config().vocabulary;
  ASSERT_EQ(expected.logits.size(), expected.after.size() * vocabulary);
  const auto tokens = static_cast<int64_t>(expected.ids.size());
  const auto budget = (*decoder)->MinBudgetBytes(tokens, 2);
  ASSERT_THAT(budget, IsOk());
  const auto run = (*decoder)->Start(*(*decoder)->Plan(tokens, 2, *budget));
  ASSERT_THAT(run, IsOk());
  ForEachVectorTarget([&](bool) {
    (*run)->Clear();
    double largest = 0;
    for (size_t i = 0; i < expected.after.size(); ++i) {
      const int64_t begin = (*run)->tokens();
      const auto actual =
          (*run)->Append(absl::MakeConstSpan(expected.ids)
                             .subspan(begin, expected.after[i] + 1 - begin));
      ASSERT_THAT(actual, IsOk());
      for (size_t j = 0; j < vocabulary; ++j) {
        largest = std::max(
            largest,
            std::abs((*actual)[j] - expected.logits[i * vocabulary + j]));
      }
    }
    EXPECT_LE(largest, 2 * expected.torch_error);
    RecordProperty("largest_error", absl::StrCat(largest));
    RecordProperty("torch_error", absl::StrCat(expected.torch_error));
  });
}

INSTANTIATE_TEST_SUITE_P(Families, DecoderGoldenTest,
                         testing::Values("gpt2", "llama", "llama_biases",
                                         "mistral", "qwen2", "qwen2_yarn",
                                         "qwen3", "gemma3_text", "phi3"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace footprint

// Compares the decoders with results in double precision from numpy (GPT-2) and
// from transformers' own code. The error of PyTorch's float32 is the measure.
// The scripts that made both are in testdata/testdata.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
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

// Returns a run in the smallest budget that reads the whole text.
std::unique_ptr<DecoderRun> StartRun(const Decoder& decoder,
                                     const Expected& expected) {
  EXPECT_GT(expected.torch_error, 1e-8);
  EXPECT_EQ(static_cast<int64_t>(expected.logits.size()),
            static_cast<int64_t>(expected.after.size()) *
                decoder.config().vocabulary);
  const auto tokens = static_cast<int64_t>(expected.ids.size());
  const auto budget = decoder.MinBudgetBytes(tokens, 2);
  EXPECT_THAT(budget, IsOk());
  auto run = decoder.Start(*decoder.Plan(tokens, 2, *budget));
  EXPECT_THAT(run, IsOk());
  return *std::move(run);
}

// Reads the text between tokens with known logits in one call.
void ExpectTwiceTorchsError(DecoderRun& run, const Expected& expected) {
  run.Clear();
  double largest = 0;
  for (size_t i = 0; i < expected.after.size(); ++i) {
    const int64_t begin = run.tokens();
    const auto actual =
        run.Append(absl::MakeConstSpan(expected.ids)
                       .subspan(begin, expected.after[i] + 1 - begin));
    ASSERT_THAT(actual, IsOk());
    for (size_t j = 0; j < actual->size(); ++j) {
      largest = std::max(
          largest,
          std::abs((*actual)[j] - expected.logits[i * actual->size() + j]));
    }
  }
  EXPECT_LE(largest, 2 * expected.torch_error);
  testing::Test::RecordProperty("largest_error", absl::StrCat(largest));
  testing::Test::RecordProperty("torch_error",
                                absl::StrCat(expected.torch_error));
}

class DecoderGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(DecoderGoldenTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const std::string folder = absl::StrCat(kTestData, GetParam());
  const Expected expected = ReadExpected(folder);
  const auto decoder = Decoder::Open(folder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const std::unique_ptr<DecoderRun> run = StartRun(**decoder, expected);
  ForEachVectorTarget([&](bool) { ExpectTwiceTorchsError(*run, expected); });
}

INSTANTIATE_TEST_SUITE_P(
    Families, DecoderGoldenTest,
    testing::Values("gpt2", "llama", "llama_biases", "mistral", "qwen2",
                    "qwen2_yarn", "qwen3", "gemma3_text", "phi3", "gemma",
                    "olmo2", "smollm3", "granite"),
    [](const auto& info) { return std::string(info.param); });

class BidirectionalGoldenTest : public testing::TestWithParam<const char*> {};

// Returns the largest error of the states of a text, for the tokens whose
// states the reference has.
double LargestErrorOfStates(DecoderRun& run, WeightStore& reference,
                            absl::Span<const int32_t> ids, int64_t hidden) {
  const auto kept =
      ReadAll<int64_t>(reference, absl::StrCat("kept_", ids.size()));
  const auto expected =
      ReadAll<double>(reference, absl::StrCat("states_", ids.size()));
  const auto actual = run.EncodeStates(ids);
  EXPECT_THAT(actual, IsOk());
  if (!actual.ok()) return INFINITY;
  EXPECT_EQ(actual->size(), ids.size() * hidden);
  EXPECT_EQ(expected.size(), kept.size() * hidden);
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const float state = (*actual)[kept[i / hidden] * hidden + i % hidden];
    largest = std::max(largest, std::abs(state - expected[i]));
  }
  return largest;
}

// The lengths are one to five tokens, and one far above the windows.
TEST_P(BidirectionalGoldenTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const std::string folder = absl::StrCat(kTestData, GetParam());
  const auto reference = WeightStore::Open(folder + "/expected.safetensors",
                                           WeightBackend::kPread);
  ASSERT_THAT(reference, IsOk());
  const auto wide_ids = ReadAll<int64_t>(**reference, "ids");
  const std::vector<int32_t> ids(wide_ids.begin(), wide_ids.end());
  const auto lengths = ReadAll<int64_t>(**reference, "lengths");
  const auto torch_errors =
      ReadAll<double>(**reference, "torch_float32_errors");
  ASSERT_EQ(lengths.size(), torch_errors.size());
  const auto decoder =
      Decoder::Open(folder, WeightBackend::kPread, DecoderUse::kStates);
  ASSERT_THAT(decoder, IsOk());
  const auto tokens = static_cast<int64_t>(ids.size());
  const auto budget = (*decoder)->MinBudgetBytes(tokens, 2);
  ASSERT_THAT(budget, IsOk());
  const auto run = (*decoder)->Start(*(*decoder)->Plan(tokens, 2, *budget));
  ASSERT_THAT(run, IsOk());
  ForEachVectorTarget([&](bool) {
    // The errors of the short texts come first, then that of the long one.
    double largest[2] = {};
    double allowed[2] = {};
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int is_long = lengths[i] > 5 ? 1 : 0;
      largest[is_long] = std::max(
          largest[is_long],
          LargestErrorOfStates(**run, **reference,
                               absl::MakeConstSpan(ids).first(lengths[i]),
                               (*decoder)->config().hidden));
      allowed[is_long] = std::max(allowed[is_long], 2 * torch_errors[i]);
    }
    for (const int is_long : {0, 1}) {
      EXPECT_GT(allowed[is_long], 1e-8);
      EXPECT_LE(largest[is_long], allowed[is_long]);
      RecordProperty(absl::StrCat("largest_error_", is_long),
                     absl::StrCat(largest[is_long]));
      RecordProperty(absl::StrCat("torch_error_", is_long),
                     absl::StrCat(allowed[is_long] / 2));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Families, BidirectionalGoldenTest,
                         testing::Values("modernbert", "nomic_bert",
                                         "embeddinggemma"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

class GgufGoldenTest : public testing::TestWithParam<const char*> {};

// The measure is PyTorch with the file's weights. quantised_product_test checks
// that every instruction set has the bits of the widened weights.
TEST_P(GgufGoldenTest, ErrsAtMostTwiceAsMuchAsPyTorch) {
  const std::string folder = absl::StrCat(kTestData, "gguf_", GetParam());
  const Expected expected = ReadExpected(folder);
  for (const WeightBackend backend :
       {WeightBackend::kDirect, WeightBackend::kMmap}) {
    const auto decoder = Decoder::Open(folder + "/model.gguf", backend);
    ASSERT_THAT(decoder, IsOk());
    const std::unique_ptr<DecoderRun> run = StartRun(**decoder, expected);
    ExpectTwiceTorchsError(*run, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, GgufGoldenTest,
    testing::Values("gemma", "gemma3", "olmo2", "smollm3", "granite", "gpt2",
                    "llama", "llama_q5_k", "mistral", "phi3", "qwen2", "qwen3"),
    [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace footprint

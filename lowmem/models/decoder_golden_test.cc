// The decoder against numbers that numpy computed in double precision, with the
// error that PyTorch's float32 has on them as the measure.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
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

constexpr char kFolder[] = "lowmem/models/testdata/golden_gpt2";

template <class T>
std::vector<T> ReadAll(WeightStore& store, const std::string& name) {
  const auto weight = store.Find(name);
  EXPECT_THAT(weight, IsOk());
  std::vector<T> values(weight->rows() * weight->columns());
  const auto tile = weight->Rows(0, weight->rows());
  EXPECT_THAT(store.Read(*tile, values.data()), IsOk());
  return values;
}

TEST(DecoderGoldenTest, ErrsAtMostTwiceAsMuchAsPyTorchAfterEveryToken) {
  const auto expected = WeightStore::Open(
      absl::StrCat(kFolder, "/expected.safetensors"), WeightBackend::kPread);
  ASSERT_THAT(expected, IsOk());
  const auto logits = ReadAll<double>(**expected, "logits");
  const auto wide_ids = ReadAll<int64_t>(**expected, "ids");
  const double torch_error =
      ReadAll<double>(**expected, "torch_float32_error")[0];
  ASSERT_GT(torch_error, 1e-8);
  const std::vector<int32_t> ids(wide_ids.begin(), wide_ids.end());
  const int64_t tokens = static_cast<int64_t>(ids.size());

  const auto decoder = Decoder::Open(kFolder, WeightBackend::kPread);
  ASSERT_THAT(decoder, IsOk());
  const size_t vocabulary = (*decoder)->config().vocabulary;
  ASSERT_EQ(logits.size(), ids.size() * vocabulary);
  const auto budget = (*decoder)->MinBudgetBytes(tokens, 2);
  const auto run = (*decoder)->Start(*(*decoder)->Plan(tokens, 2, *budget));
  ASSERT_THAT(run, IsOk());
  ForEachVectorTarget([&](bool) {
    (*run)->Clear();
    double largest = 0;
    for (size_t token = 0; token < ids.size(); ++token) {
      const auto actual = (*run)->Append(absl::MakeConstSpan(&ids[token], 1));
      ASSERT_THAT(actual, IsOk());
      for (size_t i = 0; i < vocabulary; ++i) {
        largest = std::max(
            largest, std::abs((*actual)[i] - logits[token * vocabulary + i]));
      }
    }
    EXPECT_LE(largest, 2 * torch_error);
    RecordProperty("largest_error", absl::StrCat(largest));
  });
}

}  // namespace
}  // namespace footprint

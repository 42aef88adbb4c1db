#include "footprint/trainer_manager/layers/structure_layers.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StructureLayersTest, FlattenAndAddMoveValues) {
  LayerHarness flatten(Flatten(), {{{2, 2, 3}}});
  ASSERT_THAT(flatten.Forward(), IsOk());
  EXPECT_EQ(flatten.signature().output.shape, Shape({2, 6}));
  EXPECT_EQ(flatten.Values(Role::kOutput), flatten.Values(Role::kInput));
  EXPECT_LT(flatten.WorstDerivativeError(), 1e-3);
  LayerHarness add(Add(), {{{1, 2}}, {{1, 2}}});
  add.Values(Role::kInput, 0) = {1, 2};
  add.Values(Role::kInput, 1) = {10, 20};
  ASSERT_THAT(add.Forward(), IsOk());
  EXPECT_THAT(add.Values(Role::kOutput), ElementsAre(11, 22));
  EXPECT_LT(add.WorstDerivativeError(), 1e-3);
}

TEST(StructureLayersTest, MultiplyMatchesCentralDifferences) {
  LayerHarness harness(Multiply(), {{{2, 3}}, {{2, 3}}});
  harness.Values(Role::kInput, 0) = {1, 2, 3, 4, 5, 6};
  harness.Values(Role::kInput, 1) = {7, 8, 9, 1, 2, 0.5f};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(7, 16, 27, 4, 10, 3));
  EXPECT_LT(harness.WorstDerivativeError(), 1e-3);
}

TEST(StructureLayersTest, ConcatenateSetsInputsBehindEachOther) {
  LayerHarness harness(Concatenate(), {{{2, 1, 2}}, {{2, 2, 2}}});
  harness.Values(Role::kInput, 0) = {1, 2, 3, 4};
  harness.Values(Role::kInput, 1) = {5, 6, 7, 8, 9, 10, 11, 12};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_EQ(harness.signature().output.shape, Shape({2, 3, 2}));
  EXPECT_THAT(harness.Values(Role::kOutput),
              ElementsAre(1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12));
  for (const int axis : {1, 2, 3}) {
    std::vector<TensorType> inputs = {{{2, 3, 2, 4}}, {{2, 3, 2, 4}}};
    inputs[1].shape.set_extent(axis, 5);
    LayerHarness each(Concatenate(axis), inputs);
    EXPECT_LT(each.WorstDerivativeError(), 1e-3) << axis;
  }
}

TEST(StructureLayersTest, RefusesToConcatenateWhatDoesNotFit) {
  const auto refusal = [](int axis, const Shape& first, const Shape& second) {
    return std::string(
        Refusal(Concatenate(axis), {{first}, {second}}).message());
  };
  EXPECT_THAT(refusal(1, {2, 3, 4}, {2, 3, 5}),
              HasSubstr("cannot concatenate [2, 3, 4] and [2, 3, 5] along "
                        "axis 1"));
  EXPECT_THAT(refusal(0, {2, 3}, {2, 3}), HasSubstr("along axis 0"));
  EXPECT_THAT(refusal(2, {2, 3}, {2, 3}), HasSubstr("along axis 2"));
  EXPECT_THAT(refusal(1, {2, 3}, {2, 3, 1}), HasSubstr("cannot"));
  EXPECT_THAT(refusal(1, {1, INT64_MAX - 1}, {1, 5}), HasSubstr("2^63 - 1"));
  EXPECT_THAT(Refusal(Concatenate(), {{{2, 3}}}), Not(IsOk()));
}

TEST(StructureLayersTest, EmbeddingPicksRowsAndSumsTheirGradients) {
  LayerHarness harness(Embedding(3, 2), {{{1, 4}, DType::kI32}});
  harness.SetIndices(Role::kInput, {2, 0, 2, 1});
  harness.Values(Role::kWeight) = {1, 2, 3, 4, 5, 6};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput),
              ElementsAre(5, 6, 1, 2, 5, 6, 3, 4));
  EXPECT_LT(harness.WorstGradientError(), 1e-3);
  harness.SetIndices(Role::kInput, {0, 3, 0, 0});
  const absl::Status status = harness.Forward();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the value 3 at index 1 is not an index"));
}

TEST(StructureLayersTest, PositionEmbeddingMatchesCentralDifferences) {
  LayerHarness harness(PositionEmbedding(), {{{2, 3, 4}}});
  EXPECT_LT(harness.WorstGradientError(), 1e-3);
  EXPECT_LT(harness.WorstDerivativeError(), 1e-3);
}

TEST(StructureLayersTest, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(std::string(Refusal(Add(), {{{1, 2}}, {{2, 1}}}).message()),
              HasSubstr("cannot add [2, 1] to [1, 2]"));
  EXPECT_THAT(Refusal(Add(), {{{1, 2}}}), Not(IsOk()));
  EXPECT_THAT(std::string(Refusal(Multiply(), {{{1, 2}}, {{2, 1}}}).message()),
              HasSubstr("cannot multiply [2, 1] by [1, 2]"));
  EXPECT_THAT(Refusal(Embedding(3, 2), {{{1, 4}}}), Not(IsOk()));
  EXPECT_THAT(Refusal(Embedding(0, 2), {{{1, 4}, DType::kI32}}), Not(IsOk()));
  EXPECT_THAT(Refusal(PositionEmbedding(), {{{1, 4}}}), Not(IsOk()));
}

}  // namespace
}  // namespace footprint

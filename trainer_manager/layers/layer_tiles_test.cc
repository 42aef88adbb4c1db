// Compares layers that multiply by a matrix, some columns of it at a time, with
// the same layers that have all of it.

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/lora.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<LayerPointer> LayersOf(int64_t units) {
  std::vector<LayerPointer> layers;
  for (const bool bias : {true, false}) {
    layers.push_back(FullyConnected(units, bias));
    layers.push_back(
        LoraFullyConnected(units, {{3, 0.5f}, {2, 2.0f, 1, 2}}, bias));
  }
  return layers;
}

LayerHarness Harness(const LayerPointer& layer, TensorType input,
                     const MathBackend& math) {
  return {layer,
          {std::move(input)},
          NetworkMode::kTraining,
          /*seed=*/3,
          /*indices=*/1,
          /*frozen=*/false,
          math};
}

void ExpectBitsByTiles(LayerHarness harness, int64_t columns) {
  std::vector<float>& output = harness.Values(Role::kOutput);
  std::vector<float>& derivative = harness.Values(Role::kInputDerivative);
  ASSERT_THAT(harness.Forward(), IsOk());
  harness.Backward();
  const std::vector<float> expected_output = output;
  const std::vector<float> expected_derivative = derivative;
  output.assign(output.size(), std::nanf(""));
  derivative.assign(derivative.size(), std::nanf(""));
  ASSERT_THAT(harness.ForwardByTiles(columns), IsOk());
  harness.DerivativeByTiles(columns);
  EXPECT_EQ(output, expected_output);
  EXPECT_EQ(derivative, expected_derivative);
}

TEST(LayerTilesTest, TilesOfAnyWidthHaveTheBitsOfPlainLoops) {
  for (const LayerPointer& layer : LayersOf(10)) {
    for (const int64_t columns : {1, 3, 5, 9, 10}) {
      SCOPED_TRACE(columns);
      ExpectBitsByTiles(Harness(layer, {{2, 3, 7}}, ReferenceMath()), columns);
    }
  }
}

void ExpectGradientByTiles(LayerHarness harness, int64_t rows) {
  harness.Backward();
  std::vector<std::vector<float>> expected;
  for (size_t i = 0; i < harness.signature().weights.size(); ++i) {
    std::vector<float>& gradient =
        harness.Values(Role::kGradient, static_cast<int>(i));
    expected.push_back(gradient);
    gradient.assign(gradient.size(), std::nanf(""));
  }
  harness.GradientByTiles(rows);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(harness.Values(Role::kGradient, static_cast<int>(i)), expected[i])
        << rows << " rows";
  }
}

TEST(LayerTilesTest, TilesOfAGradientHaveItsBits) {
  const auto team = MakeTeamBackend(3);
  for (const bool bias : {true, false}) {
    for (const int64_t rows : {1, 5, 7}) {
      ExpectGradientByTiles(
          Harness(FullyConnected(10, bias), {{2, 3, 7}}, ReferenceMath()),
          rows);
    }
    for (const MathBackend* math : {&HighwayBackend(), team.get()}) {
      for (const int64_t rows : {16, 64, 97}) {
        ExpectGradientByTiles(
            Harness(FullyConnected(300, bias), {{70, 200}}, *math), rows);
      }
    }
  }
}

// The last of 70 rows are in a block of their own.
TEST(LayerTilesTest, TilesOfSumBlocksHaveTheBitsOfTheBackend) {
  const auto team = MakeTeamBackend(3);
  for (const MathBackend* math : {&HighwayBackend(), team.get()}) {
    for (const LayerPointer& layer : LayersOf(600)) {
      for (const int64_t rows : {1, 70}) {
        for (const int64_t blocks : {1, 2}) {
          ExpectBitsByTiles(Harness(layer, {{rows, 90}}, *math),
                            blocks * math->SumBlock());
        }
      }
    }
  }
}

TEST(LayerTilesTest, OnlyLayersOfAMatrixHaveTiles) {
  EXPECT_FALSE(
      LayerHarness(Relu(), {{{2, 3}}}).signature().multiplies_by_matrix);
  const LayerHarness full(FullyConnected(4), {{{2, 3}}});
  ASSERT_TRUE(full.signature().multiplies_by_matrix);
  EXPECT_EQ(FindMatrix(full.signature()), (Operand{Role::kWeight, 0}));
  const LayerHarness lora(LoraFullyConnected(4, {{2}}), {{{2, 3}}});
  ASSERT_TRUE(lora.signature().multiplies_by_matrix);
  EXPECT_EQ(FindMatrix(lora.signature()),
            (Operand{Role::kRunningStatistic, 0}));
}

}  // namespace
}  // namespace footprint

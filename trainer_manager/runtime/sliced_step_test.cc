#include "footprint/trainer_manager/runtime/sliced_step.h"

#include <cstdint>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<float> RandomValues(int64_t count, uint64_t seed) {
  RandomSequence random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.Normal());
  return values;
}

// Tests slices that divide the batch, slices that do not, and one of the whole
// batch, all in place.
TEST(SlicedStepTest, IsBothDerivativesOneAfterTheOther) {
  const TensorType input = {{7, 5}};
  const TensorType output = {{7, 3}};
  const TensorType weight = {{5, 3}};
  const std::vector<float> activated = RandomValues(35, 1);
  std::vector<float> derivative = RandomValues(21, 2);
  std::vector<float> weights = RandomValues(15, 3);
  const LayerPointer layer = FullyConnected(3);
  const LayerPointer relu = Relu();
  // The expected values come from the whole batch at once.
  std::vector<float> middle(35);
  std::vector<float> expected(35);
  std::vector<float> kept = activated;
  const std::vector<StepData::Slot> first = {
      {{Role::kWeight}, true, false, &weight, weights.data()},
      {{Role::kOutputDerivative}, true, false, &output, derivative.data()},
      {{Role::kInputDerivative}, false, true, &input, middle.data()}};
  const std::vector<StepData::Slot> second = {
      {{Role::kOutput}, true, false, &input, kept.data()},
      {{Role::kOutputDerivative}, true, false, &input, middle.data()},
      {{Role::kInputDerivative}, false, true, &input, expected.data()}};
  const auto data = [](const std::vector<StepData::Slot>& slots) {
    return StepData(slots, NetworkMode::kTraining, 0, ReferenceMath());
  };
  layer->CalculateDerivative(data(first));
  relu->CalculateDerivative(data(second));
  for (const int64_t rows : {1, 2, 3, 7}) {
    const TensorType slice = {{rows, 5}};
    std::vector<float> part(static_cast<size_t>(rows * 5), 99.0f);
    std::vector<float> in_place = activated;
    const std::vector<StepData::Slot> slots = {
        {{Role::kWeight}, true, false, &weight, weights.data()},
        {{Role::kOutputDerivative}, true, false, &output, derivative.data()},
        {{Role::kInput}, true, false, &input, in_place.data()},
        {{Role::kInputDerivative}, false, true, &input, in_place.data()},
        {{Role::kSlice}, false, true, &slice, part.data()}};
    CalculateSlicedDerivative(*layer, *relu, slots, data(slots));
    EXPECT_EQ(in_place, expected) << rows;
  }
}

// Tests with and without another reader's derivative, in place of either
// derivative that the step reads.
TEST(SlicedStepTest, IsTheDerivativeAndThenTheSum) {
  const TensorType type = {{7, 5}};
  const TensorType weight = {{5, 5}};
  const std::vector<float> derivative = RandomValues(35, 2);
  std::vector<float> weights = RandomValues(25, 3);
  const std::vector<float> earlier = RandomValues(35, 4);
  const LayerPointer layer = FullyConnected(5);
  const auto data = [](const std::vector<StepData::Slot>& slots) {
    return StepData(slots, NetworkMode::kTraining, 0, ReferenceMath());
  };
  for (const bool adds : {false, true}) {
    std::vector<float> read = derivative;
    std::vector<float> expected(35);
    const std::vector<StepData::Slot> whole = {
        {{Role::kWeight}, true, false, &weight, weights.data()},
        {{Role::kOutputDerivative}, true, false, &type, read.data()},
        {{Role::kInputDerivative}, false, true, &type, expected.data()}};
    layer->CalculateDerivative(data(whole));
    for (size_t i = 0; i < 35 && adds; ++i) {
      expected[i] = earlier[i] + expected[i];
    }
    for (const int64_t rows : {1, 2, 3, 7}) {
      for (const bool on_earlier : {false, true}) {
        const TensorType slice = {{rows, 5}};
        std::vector<float> part(static_cast<size_t>(rows * 5), 99.0f);
        std::vector<float> output_derivative = derivative;
        std::vector<float> added = earlier;
        std::vector<float>& sum =
            on_earlier && adds ? added : output_derivative;
        std::vector<StepData::Slot> slots = {
            {{Role::kWeight}, true, false, &weight, weights.data()},
            {{Role::kOutputDerivative},
             true,
             false,
             &type,
             output_derivative.data()},
            {{Role::kInputDerivative}, false, true, &type, sum.data()},
            {{Role::kSlice}, false, true, &slice, part.data()}};
        if (adds) {
          slots.push_back(
              {{Role::kInputDerivative, 1}, true, false, &type, added.data()});
        }
        CalculateSlicedSum(*layer, slots, data(slots));
        EXPECT_EQ(sum, expected) << rows << adds << on_earlier;
      }
    }
  }
}

}  // namespace
}  // namespace footprint

// The losses of a training are the same, bit for bit, whichever memory
// optimisations are on.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "footprint/trainer_manager/execution_plan.h"
#include "footprint/trainer_manager/manager.h"
#include "footprint/trainer_manager/reference_networks.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr unsigned kSubsets = 128;

MemoryOptions Subset(unsigned bits) {
  MemoryOptions options;
  options.share_gradients = bits & 1;
  options.share_edges = bits & 2;
  options.reuse_activations = bits & 4;
  options.reuse_derivatives = bits & 8;
  options.in_place = bits & 16;
  options.reuse_workspaces = bits & 32;
  options.slice_derivatives = bits & 64;
  return options;
}

uint64_t Next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

// Fills inputs and label anew from `state`; labels are indices below `classes`,
// or floats if that is 0.
void SetData(const ExecutionPlan& plan, int32_t classes, uint64_t* state,
             Manager* manager) {
  const auto count = [&](size_t tensor) {
    return static_cast<size_t>(plan.tensors[tensor].spec.shape.elements());
  };
  const auto floats = [&](size_t size) {
    std::vector<float> values(size);
    for (float& v : values) {
      v = static_cast<float>(Next(state) % 2001) / 1000.0f - 1.0f;
    }
    return values;
  };
  const auto indices = [&](size_t size) {
    std::vector<int32_t> values(size);
    for (int32_t& v : values) {
      v = static_cast<int32_t>(Next(state)) % classes;
    }
    return values;
  };
  const size_t input = plan.input_tensors[0];
  const size_t label = plan.label_tensors[0];
  const bool tokens = plan.tensors[input].spec.type == ElementType::kInt32;
  ASSERT_TRUE((tokens ? manager->SetInput(0, indices(count(input)))
                      : manager->SetInput(0, floats(count(input))))
                  .ok());
  ASSERT_TRUE((classes > 0 ? manager->SetLabel(indices(count(label)))
                           : manager->SetLabel(floats(count(label))))
                  .ok());
}

// The losses, then all parameters, as bits.
std::vector<uint32_t> TrainedBits(const Network& network,
                                  const MemoryOptions& memory, int32_t classes,
                                  int steps, bool poison,
                                  const OptimizerPointer& optimizer) {
  ManagerOptions options;
  options.optimizer = optimizer;
  options.poison = poison;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, memory,
                                  optimizer->states_per_weight());
  EXPECT_TRUE(plan.ok()) << plan.status();
  const auto parameters = Parameters::Create(*plan, 11);
  auto manager = Manager::Create(*plan, *parameters, options);
  EXPECT_TRUE(manager.ok()) << manager.status();
  std::vector<uint32_t> bits;
  const auto add = [&bits](float value) {
    uint32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    bits.push_back(word);
  };
  uint64_t state = 5;
  for (int i = 0; i < steps; ++i) {
    SetData(*plan, classes, &state, manager->get());
    const auto loss = (*manager)->TrainStep();
    EXPECT_TRUE(loss.ok()) << loss.status();
    if (!loss.ok()) return bits;
    add(*loss);
  }
  for (const Parameters::Parameter& parameter : (*parameters)->all()) {
    for (const float value : parameter.values) add(value);
  }
  return bits;
}

void ExpectSubsetsEqual(const Network& network, int32_t classes, int steps,
                        const OptimizerPointer& optimizer, unsigned begin,
                        unsigned end) {
  const std::vector<uint32_t> debug = TrainedBits(
      network, MemoryOptions::Debug(), classes, steps, false, optimizer);
  for (unsigned bits = begin; bits < end; ++bits) {
    // Slices need these; without them the plan is the one without slices.
    if (bits >= 64 && (bits & 62) != 62) continue;
    EXPECT_TRUE(debug == TrainedBits(network, Subset(bits), classes, steps,
                                     /*poison=*/bits % 8 == 7, optimizer))
        << "options " << bits;
  }
}

TEST(OptionSubsetsTest, TabularMlpTrainsTheSame) {
  ExpectSubsetsEqual(TabularMlp(8), 0, 200, StochasticGradientDescent(0.05f), 0,
                     kSubsets);
}

// In parts, which run side by side.
class LeNetSubsetsTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(LeNetSubsetsTest, TrainsTheSame) {
  ExpectSubsetsEqual(LeNet5(1), 10, 200, StochasticGradientDescent(0.05f),
                     GetParam(), GetParam() + kSubsets / 8);
}

INSTANTIATE_TEST_SUITE_P(Parts, LeNetSubsetsTest,
                         ::testing::Range(0u, kSubsets, kSubsets / 8));

TEST(OptionSubsetsTest, AdamTrainsTheSame) {
  ExpectSubsetsEqual(TabularMlp(4), 0, 10, Adam(0.01f), 0, kSubsets);
}

TEST(OptionSubsetsTest, TransformerTrainsTheSame) {
  const Network network = SmallTransformer(1);
  const OptimizerPointer optimizer = StochasticGradientDescent(0.1f);
  const std::vector<uint32_t> debug =
      TrainedBits(network, MemoryOptions::Debug(), 1000, 2, false, optimizer);
  EXPECT_TRUE(debug == TrainedBits(network, {}, 1000, 2, true, optimizer));
}

}  // namespace
}  // namespace footprint

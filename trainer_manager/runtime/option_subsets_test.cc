// Compares the losses of a training, bit for bit, between all combinations of
// memory optimisations.

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/option_subset.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Fills inputs and label with new numbers from `random`. Labels are indices
// below `classes`, or floats if that is 0.
void SetData(const ExecutionPlan& plan, int32_t classes, RandomSequence* random,
             Manager* manager) {
  const auto count = [&](size_t tensor) {
    return static_cast<size_t>(plan.tensors[tensor].spec.shape.elements());
  };
  const auto floats = [&](size_t size) {
    std::vector<float> values(size);
    for (float& v : values) {
      v = static_cast<float>(random->Below(2001)) / 1000.0f - 1.0f;
    }
    return values;
  };
  const auto indices = [&](size_t size) {
    std::vector<int32_t> values(size);
    for (int32_t& v : values) {
      v = static_cast<int32_t>(random->Below(static_cast<uint64_t>(classes)));
    }
    return values;
  };
  const size_t input = plan.input_tensors[0];
  const size_t label = plan.label_tensors[0];
  const bool tokens = plan.tensors[input].spec.type == DType::kI32;
  ASSERT_THAT((tokens ? manager->SetInput(0, indices(count(input)))
                      : manager->SetInput(0, floats(count(input)))),
              IsOk());
  ASSERT_THAT((classes > 0 ? manager->SetLabel(indices(count(label)))
                           : manager->SetLabel(floats(count(label)))),
              IsOk());
}

// Returns all that a manager reads from a plan. Plans with equal keys run
// equally.
std::string DescribePlan(const ExecutionPlan& plan) {
  std::string key;
  for (const PlannedStep& step : plan.steps) {
    absl::StrAppend(&key, static_cast<int>(step.kind), ":", step.layer, "(");
    for (const TensorUse& use : step.uses) {
      const PlannedTensor& tensor = plan.tensors[use.tensor];
      const Storage& storage = plan.StorageOfTensor(use.tensor);
      absl::StrAppend(
          &key, static_cast<int>(use.operand.role), " ", use.operand.index, " ",
          use.read, use.written, " ", tensor.spec.shape.ToString(), " ",
          static_cast<int>(storage.storage_class), " ",
          plan.OffsetOfTensor(use.tensor), " ", storage.upper_step, ",");
    }
  }
  return key;
}

// Returns the losses, then all parameters, as bits.
std::vector<uint32_t> TrainedBits(const ExecutionPlan& plan, int32_t classes,
                                  int steps, bool poison,
                                  const OptimizerPointer& optimizer) {
  ManagerOptions options;
  options.optimizer = optimizer;
  options.poison = poison;
  options.swap_folder = ::testing::TempDir();
  const auto parameters = Parameters::Create(plan, 11);
  auto manager = Manager::Create(plan, *parameters, options);
  EXPECT_THAT(manager, IsOk());
  std::vector<uint32_t> bits;
  const auto add = [&bits](float value) {
    uint32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    bits.push_back(word);
  };
  RandomSequence random(5);
  for (int i = 0; i < steps; ++i) {
    SetData(plan, classes, &random, manager->get());
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    if (!loss.ok()) return bits;
    add(*loss);
  }
  for (const Parameters::Parameter& parameter : (*parameters)->all()) {
    for (const float value : parameter.values) add(value);
  }
  return bits;
}

// Trains with each subset, and in the debug mode, which has no optimisations.
// Subsets with the same plan are trained once, since some options do not affect
// the network.
void ExpectSubsetsEqual(const Network& network, int32_t classes, int steps,
                        const OptimizerPointer& optimizer,
                        const std::vector<unsigned>& subsets) {
  std::set<std::string> done;
  std::vector<uint32_t> debug;
  const auto train = [&](unsigned bits) {
    MemoryOptions options = OptionSubset(bits);
    options.atomic_steps = bits % 3 == 1;
    const auto plan = PlanExecution(network, NetworkMode::kTraining, options,
                                    optimizer->states_per_weight());
    ASSERT_THAT(plan, IsOk());
    const bool poison = bits % 8 == 7;
    if (!done.insert(absl::StrCat(poison, DescribePlan(*plan))).second) return;
    std::vector<uint32_t> trained =
        TrainedBits(*plan, classes, steps, poison, optimizer);
    if (debug.empty()) debug = trained;
    EXPECT_TRUE(debug == trained) << "options " << bits;
  };
  train(0);
  for (const unsigned bits : subsets) train(bits);
}

std::vector<unsigned> AllSubsets() {
  std::vector<unsigned> all;
  for (unsigned bits = 0; bits < kOptionSubsets; ++bits) all.push_back(bits);
  return all;
}

TEST(OptionSubsetsTest, TabularMlpTrainsTheSame) {
  ExpectSubsetsEqual(TabularMlp(8), 0, 200, StochasticGradientDescent(0.05f),
                     AllSubsets());
}

TEST(OptionSubsetsTest, AdamTrainsTheSame) {
  ExpectSubsetsEqual(TabularMlp(4), 0, 10, Adam(0.01f), AllSubsets());
}

// Has depthwise and grouped convolutions, SiLU, a concatenation with a value
// that needs no derivative, global pooling and RMS normalization.
Network MobileNetwork() {
  Convolution2dOptions depthwise = {6, 3, 1, 1};
  depthwise.groups = 3;
  Convolution2dOptions grouped = {8, 3, 2, 1};
  grouped.groups = 2;
  Network network;
  network.AddInput("image", {{6, 3, 8, 8}});
  network.AddLayer("conv1", Convolution2d(depthwise), {"image"});
  network.AddLayer("silu1", Silu(), {"conv1"});
  network.AddLayer("conv2", Convolution2d({5, 1}), {"silu1"});
  network.AddLayer("both", Concatenate(), {"image", "conv2"});
  network.AddLayer("conv3", Convolution2d(grouped), {"both"});
  network.AddLayer("silu2", Silu(), {"conv3"});
  network.AddLayer("means", GlobalAveragePool2d(), {"silu2"});
  network.AddLayer("norm", RmsNormalization(), {"means"});
  network.AddLayer("twice", Concatenate(), {"norm", "means"});
  network.AddLayer("head", FullyConnected(5), {"twice"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  return network;
}

TEST(OptionSubsetsTest, LayersOfMobileNetworksTrainTheSame) {
  ExpectSubsetsEqual(MobileNetwork(), 5, 3, Momentum(0.05f), AllSubsets());
}

// The subsets are in parts that run in parallel.
class LeNetSubsetsTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(LeNetSubsetsTest, TrainsTheSame) {
  std::vector<unsigned> part;
  for (unsigned bits = GetParam(); bits < kOptionSubsets; bits += 8) {
    part.push_back(bits);
  }
  ExpectSubsetsEqual(LeNet5(1), 10, 200, StochasticGradientDescent(0.05f),
                     part);
}

INSTANTIATE_TEST_SUITE_P(Parts, LeNetSubsetsTest, ::testing::Range(0u, 8u));

// Trains with all options, with all but one, and with random subsets.
TEST(OptionSubsetsTest, RandomNetworksTrainTheSame) {
  RandomSequence random(3);
  for (uint32_t seed = 0; seed < 16; ++seed) {
    std::vector<unsigned> subsets = {kOptionSubsets - 1};
    for (int i = 0; i < 4; ++i) {
      subsets.push_back(kOptionSubsets - 1 - (1u << random.Below(10)));
      subsets.push_back(static_cast<unsigned>(random.Below(kOptionSubsets)));
    }
    ExpectSubsetsEqual(
        seed % 2 == 0 ? RandomRowNetwork(seed) : RandomImageNetwork(seed), 0, 3,
        Momentum(0.01f), subsets);
  }
}

TEST(OptionSubsetsTest, GatedNetworksTrainTheSame) {
  RandomSequence random(4);
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const Network network = RandomGatedNetwork(seed);
    std::vector<unsigned> subsets = {kOptionSubsets - 1};
    for (int i = 0; i < 8; ++i) {
      subsets.push_back(static_cast<unsigned>(random.Below(kOptionSubsets)));
    }
    ExpectSubsetsEqual(network, kTokens, 3, Momentum(0.01f), subsets);
    // The smallest budget recomputes, swaps and slices.
    MemoryOptions options;
    options.swap_to_file = true;
    options.budget_bytes = 0;
    options.budget_bytes = LeastBudgetNamed(
        PlanExecution(network, NetworkMode::kTraining, options, 1).status());
    const auto plan =
        PlanExecution(network, NetworkMode::kTraining, options, 1);
    ASSERT_THAT(plan, IsOk()) << seed;
    const auto debug = PlanExecution(network, NetworkMode::kTraining,
                                     MemoryOptions::Debug(), 1);
    EXPECT_TRUE(TrainedBits(*debug, kTokens, 3, false, Momentum(0.01f)) ==
                TrainedBits(*plan, kTokens, 3, true, Momentum(0.01f)))
        << seed;
  }
}

struct StepCounts {
  int forgotten = 0;  // recomputed more than once
  int sums = 0;       // calculated by slices
};

StepCounts CountSteps(const ExecutionPlan& plan) {
  StepCounts counts;
  std::set<size_t> again;
  for (const PlannedStep& step : plan.steps) {
    counts.sums += step.kind == StepKind::kSlicedSum;
    if (step.kind == StepKind::kRecompute) {
      counts.forgotten += !again.insert(step.layer).second;
    }
  }
  return counts;
}

// Budgets from that of the unlimited plan down to the smallest that can be met
// with a file.
class BudgetsTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(BudgetsTest, NetworksTrainTheSame) {
  const OptimizerPointer optimizer = Momentum(0.01f);
  int budgets = 0;
  int swapped = 0;
  StepCounts steps;
  for (uint32_t seed = GetParam(); seed < GetParam() + 16; ++seed) {
    const Network network = RandomNetwork(seed);
    const int32_t classes = seed % 4 == 2 ? kTokens : 0;
    const auto debug = PlanExecution(network, NetworkMode::kTraining,
                                     MemoryOptions::Debug(), 1);
    ASSERT_THAT(debug, IsOk());
    const std::vector<uint32_t> expected =
        TrainedBits(*debug, classes, 3, false, optimizer);
    MemoryOptions options;
    options.swap_to_file = true;
    while (true) {
      auto plan = PlanExecution(network, NetworkMode::kTraining, options, 1);
      const bool is_least = !plan.ok();
      if (is_least) {
        options.budget_bytes = LeastBudgetNamed(plan.status());
        plan = PlanExecution(network, NetworkMode::kTraining, options, 1);
      }
      ASSERT_THAT(plan, IsOk()) << seed;
      EXPECT_TRUE(expected ==
                  TrainedBits(*plan, classes, 3, /*poison=*/true, optimizer))
          << "seed " << seed << " within " << options.budget_bytes;
      swapped += plan->swap_file_bytes > 0;
      steps.forgotten += CountSteps(*plan).forgotten;
      steps.sums += CountSteps(*plan).sums;
      ++budgets;
      if (is_least) break;
      options.budget_bytes = plan->planned_bytes() - plan->planned_bytes() / 16;
    }
  }
  EXPECT_GT(budgets, 2 * 16);
  EXPECT_GT(swapped, 0);
  EXPECT_GT(steps.forgotten, 0);
  EXPECT_GT(steps.sums, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BudgetsTest, ::testing::Values(0u, 16u));

TEST(OptionSubsetsTest, TransformerTrainsTheSame) {
  const Network network = SmallTransformer(4);
  const OptimizerPointer optimizer = StochasticGradientDescent(0.1f);
  ExpectSubsetsEqual(network, 1000, 2, optimizer, {kOptionSubsets - 1});
  MemoryOptions options;
  options.budget_bytes = 5600000;  // else 7,100,000; weights are 2,647,968
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
  ASSERT_THAT(plan, IsOk());
  EXPECT_GT(plan->recompute_products(), 0);
  const auto debug =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions::Debug());
  EXPECT_TRUE(TrainedBits(*debug, 1000, 2, false, optimizer) ==
              TrainedBits(*plan, 1000, 2, true, optimizer));
}

// Returns few subsets in which any two options occur in all four combinations.
// Each option is on in three of the last five subsets, and no two options in
// the same three; the first subset is empty.
std::vector<unsigned> PairwiseSubsets() {
  std::vector<unsigned> subsets(6, 0);
  unsigned option = 0;
  for (unsigned rows = 0; rows < 32; ++rows) {
    if (__builtin_popcount(rows) != 3) continue;
    for (unsigned r = 0; r < 5; ++r) {
      subsets[r + 1] |= (rows >> r & 1) << option;
    }
    ++option;
  }
  return subsets;
}

TEST(OptionSubsetsTest, PairwiseSubsetsHoldAllPairs) {
  const std::vector<unsigned> subsets = PairwiseSubsets();
  for (unsigned a = 0; a < 10; ++a) {
    for (unsigned b = 0; b < a; ++b) {
      std::set<unsigned> seen;
      for (const unsigned bits : subsets) {
        seen.insert((bits >> a & 1) * 2 + (bits >> b & 1));
      }
      EXPECT_EQ(seen.size(), 4u) << a << " and " << b;
    }
  }
}

// These tests take minutes and belong to the large tier. See BUILD.
class LargeNetworksTest
    : public ::testing::TestWithParam<std::pair<Network (*)(int64_t), int>> {};

TEST_P(LargeNetworksTest, TrainTheSame) {
  std::vector<unsigned> subsets = PairwiseSubsets();
  subsets.push_back(kOptionSubsets - 1);
  ExpectSubsetsEqual(GetParam().first(32), GetParam().second, 5,
                     StochasticGradientDescent(0.01f), subsets);
}

INSTANTIATE_TEST_SUITE_P(Batch32, LargeNetworksTest,
                         ::testing::Values(std::make_pair(&Vgg16, 100),
                                           std::make_pair(&ResNet18, 100),
                                           std::make_pair(&SmallTransformer,
                                                          1000)));

}  // namespace
}  // namespace footprint

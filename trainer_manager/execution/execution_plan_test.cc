#include "footprint/trainer_manager/execution/execution_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/option_subset.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                            NetworkMode mode,
                                            const MemoryOptions& options,
                                            int states = 0) {
  return footprint::PlanExecution(network, mode, options, states,
                                  HighwayBackend());
}

ExecutionPlan Plan(const Network& network, NetworkMode mode,
                   const MemoryOptions& options = {}, int states = 0) {
  const auto plan = PlanExecution(network, mode, options, states);
  EXPECT_THAT(plan, IsOk());
  return plan.ok() ? *plan : ExecutionPlan();
}

const PlannedTensor& Find(const ExecutionPlan& plan, const std::string& name) {
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name;
  return plan.tensors[0];
}

size_t FindStorage(const ExecutionPlan& plan, const std::string& name) {
  return plan
      .storage_of[static_cast<size_t>(&Find(plan, name) - &plan.tensors[0])];
}

// Plays the plan with a byte pattern for each value. Whatever a step reads must
// still be what was last written as that tensor. The playback sees lifespans
// and storages only as addresses, so as an oracle it shares no reasoning with
// the planner.
class Playback {
 public:
  explicit Playback(const ExecutionPlan& plan)
      : plan_(plan), same_(plan.tensors.size()) {
    for (size_t t = 0; t < same_.size(); ++t) same_[t] = t;
  }

  // Returns the first error, or an empty text.
  std::string Run() {
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].kind <= TensorKind::kLabel) Write(t);
    }
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const std::string fault = Play(static_cast<int64_t>(s), plan_.steps[s]);
      if (!fault.empty()) return fault;
    }
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].is_retained && !Holds(t)) {
        return absl::StrCat("kept tensor ", plan_.tensors[t].name,
                            " is overwritten");
      }
    }
    return "";
  }

 private:
  // The tensor that was last written to a place.
  struct Owner {
    StorageClass where;
    int64_t begin;
    int64_t end;
    size_t tensor;
  };

  Owner Place(size_t t) const {
    const Storage& s = plan_.StorageOfTensor(t);
    const bool is_user = s.storage_class == StorageClass::kUser;
    const int64_t begin = is_user ? static_cast<int64_t>(plan_.storage_of[t])
                                  : plan_.OffsetOfTensor(t);
    return {s.storage_class, begin, begin + (is_user ? 1 : s.size_bytes), t};
  }

  void Write(size_t t) {
    const Owner mine = Place(t);
    const auto meets = [&](const Owner& o) {
      return o.where == mine.where && o.begin < mine.end && mine.begin < o.end;
    };
    owners_.erase(std::remove_if(owners_.begin(), owners_.end(), meets),
                  owners_.end());
    owners_.push_back(mine);
  }

  bool Holds(size_t t) const {
    const Owner mine = Place(t);
    return std::any_of(owners_.begin(), owners_.end(), [&](const Owner& o) {
      return o.where == mine.where && o.begin == mine.begin &&
             o.end == mine.end && same_[o.tensor] == same_[t];
    });
  }

  std::string Play(int64_t number, const PlannedStep& step) {
    for (const TensorUse& use : step.uses) {
      if (use.read && !Holds(use.tensor)) {
        return absl::StrCat(StepName(plan_, number), " reads ",
                            plan_.tensors[use.tensor].name,
                            ", which is overwritten");
      }
    }
    for (const TensorUse& use : step.uses) {
      if (!use.written) continue;
      TakeOverBytes(step, use);
      Write(use.tensor);
    }
    return "";
  }

  // A tensor written in place with the same bytes is the same value.
  void TakeOverBytes(const PlannedStep& step, const TensorUse& written) {
    for (const InPlace& in_place : step.in_place) {
      if (!in_place.same_bytes || !(in_place.written == written.operand)) {
        continue;
      }
      for (const TensorUse& read : step.uses) {
        if (read.operand == in_place.read) {
          same_[written.tensor] = same_[read.tensor];
        }
      }
    }
  }

  const ExecutionPlan& plan_;
  std::vector<Owner> owners_;
  std::vector<size_t> same_;  // the tensor whose bytes a tensor holds
};

std::string PlaySteps(const ExecutionPlan& plan) {
  return Playback(plan).Run();
}

Network RandomNetwork(uint32_t seed) {
  return seed % 4 == 0   ? RandomRowNetwork(seed)
         : seed % 4 == 1 ? RandomImageNetwork(seed)
         : seed % 4 == 2 ? RandomTokenNetwork(seed)
                         : RandomGatedNetwork(seed);
}

// Draws a number that divides the batch into parts that have a variance.
int64_t RandomParts(const Network& network, std::mt19937* random) {
  const int64_t batch = network.inputs()[0].spec.shape.extent(0);
  const int64_t parts = 1 + static_cast<int64_t>((*random)()) % batch;
  return batch % parts == 0 && parts < batch ? parts : 1;
}

TEST(ExecutionPlanTest, NothingIsReadAfterItWasOverwritten) {
  std::mt19937 random(1);
  int in_parts = 0;
  for (uint32_t seed = 0; seed < 48; ++seed) {
    const Network network = RandomNetwork(seed);
    for (int trial = 0; trial < 5; ++trial) {
      const unsigned bits = trial == 0   ? 0
                            : trial == 1 ? kOptionSubsets - 1
                            : trial < 4
                                ? kOptionSubsets - 1 - (1u << random() % 10)
                                : random() % kOptionSubsets;
      MemoryOptions options = OptionSubset(bits);
      options.atomic_steps = random() % 4 == 0;
      options.keep_outputs = random() % 2 == 0;
      EXPECT_EQ(PlaySteps(Plan(network, NetworkMode::kInference, options)), "")
          << "seed " << seed << " options " << bits;
      options.clip_global_norm = random() % 2 == 0;
      options.micro_batches = RandomParts(network, &random);
      in_parts += options.micro_batches > 1;
      const ExecutionPlan plan =
          Plan(network, NetworkMode::kTraining, options, seed % 3);
      EXPECT_EQ(PlaySteps(plan), "") << "seed " << seed << " options " << bits;
    }
  }
  EXPECT_GT(in_parts, 20);
}

TEST(ExecutionPlanTest, DebugModeKeepsEveryTensorAtItsOwnPlace) {
  const ExecutionPlan plan =
      Plan(LeNet5(2), NetworkMode::kTraining, MemoryOptions::Debug());
  EXPECT_EQ(plan.storages.size(), plan.tensors.size());
  for (const PlannedTensor& tensor : plan.tensors) {
    EXPECT_TRUE(tensor.is_retained) << tensor.name;
  }
}

TEST(ExecutionPlanTest, NoOptimisationEverCostsBytes) {
  for (const Network& network : {TabularMlp(32), LeNet5(8), Vgg16(2),
                                 ResNet18(2), SmallTransformer(2)}) {
    const int64_t all = Plan(network, NetworkMode::kTraining).bound_bytes();
    for (unsigned bit = 1; bit < kOptionSubsets; bit *= 2) {
      const MemoryOptions without = OptionSubset(kOptionSubsets - 1 - bit);
      EXPECT_LE(all,
                Plan(network, NetworkMode::kTraining, without).bound_bytes())
          << bit;
    }
  }
}

TEST(ExecutionPlanTest, ReferenceNetworksStayWithinTheirGoals) {
  EXPECT_LE(Plan(Vgg16(32), NetworkMode::kTraining).planned_bytes(), 94000000);
  EXPECT_LE(Plan(ResNet18(32), NetworkMode::kTraining).planned_bytes(),
            129000000);
  EXPECT_LE(Plan(SmallTransformer(32), NetworkMode::kTraining).planned_bytes(),
            35000000);
}

// Of conv, ReLU and pool only the pooled output and two bits for each element
// are kept.
TEST(ExecutionPlanTest, APooledActivationIsNotKept) {
  Network network;
  network.AddInput("x", {{2, 1, 4, 4}});
  Convolution2dOptions convolution;
  convolution.channels = 3;
  convolution.kernel = 1;
  network.AddLayer("conv", Convolution2d(convolution), {"x"});
  network.AddLayer("relu", Relu(), {"conv"});
  network.AddLayer("pool", MaxPool2d(2), {"relu"});
  network.AddLayer("flatten", Flatten(), {"pool"});
  network.AddLayer("fc", FullyConnected(1), {"flatten"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  const ExecutionPlan plan = Plan(network, NetworkMode::kTraining);
  EXPECT_EQ(StepName(plan, Find(plan, "relu output").upper_step - 1),
            "pool: forward");
  EXPECT_EQ(Find(plan, "pool saved 0").size_bytes, 2 * 3);
  MemoryOptions options;
  options.restore_pooled = false;
  options.slice_derivatives = false;
  options.pack_winners = false;
  const ExecutionPlan kept = Plan(network, NetworkMode::kTraining, options);
  EXPECT_EQ(StepName(kept, Find(kept, "relu output").upper_step - 1),
            "relu: calculate derivative");
  EXPECT_EQ(Find(kept, "pool saved 0").size_bytes, 2 * 3 * 4);
}

// Normalization and the ReLU after it are recomputed for the layer that reads
// them. A sum of tensors that are not kept is not recomputed.
TEST(ExecutionPlanTest, CheapOutputsAreCalculatedAgain) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(3), {"x"});
  network.AddLayer("sum", Add(), {"fc1", "x"});
  network.AddLayer("bn", BatchNormalization(), {"sum"});
  network.AddLayer("relu", Relu(), {"bn"});
  network.AddLayer("fc2", FullyConnected(2), {"relu"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  const ExecutionPlan plan = Plan(network, NetworkMode::kTraining);
  std::vector<std::string> recomputed;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].kind == StepKind::kRecompute) {
      recomputed.push_back(StepName(plan, static_cast<int64_t>(s)));
    }
  }
  EXPECT_THAT(recomputed, ElementsAre("bn: recompute", "relu: recompute"));
  EXPECT_EQ(StepName(plan, Find(plan, "relu output").upper_step - 1),
            "fc2: forward");
  EXPECT_EQ(FindStorage(plan, "bn output again"),
            FindStorage(plan, "relu output again"));
}

// If only a later layer reads a value backwards, it is dead by the time the
// ReLU's output would be recomputed from it.
TEST(ExecutionPlanTest, NothingIsKeptLongerToCalculateAgain) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(3), {"x"});
  network.AddLayer("relu", Relu(), {"fc1"});
  network.AddLayer("fc2", FullyConnected(3), {"relu"});
  network.AddLayer("fc3", FullyConnected(3), {"fc1"});
  network.AddLayer("sum", Add(), {"fc2", "fc3"});
  network.AddLayer("loss", MeanSquaredError(), {"sum"});
  for (const PlannedStep& step : Plan(network, NetworkMode::kTraining).steps) {
    EXPECT_NE(step.kind, StepKind::kRecompute);
  }
}

TEST(ExecutionPlanTest, TheSmallMlpNeedsWhatTheArithmeticSays) {
  const ExecutionPlan plan = Plan(TabularMlp(32), NetworkMode::kTraining);
  // Model memory is the weights and the gaps for the alignment to 16; fixed
  // memory is input, label and loss.
  EXPECT_EQ(plan.model_bytes, (13 * 50 + 50 + 50 * 50 + 50 + 50 + 1) * 4 + 32);
  EXPECT_EQ(plan.fixed_bytes, (32 * 13 + 32 + 1) * 4);
  // The step calculates the derivative of the second layer's input by slices of
  // two rows. It holds a slice, the ReLU whose output it overwrites, the
  // derivative that it comes from, and the gradients that wait for it.
  EXPECT_EQ(plan.certificate.bytes,
            2 * 32 * 50 * 4 + 2 * 50 * 4 + 50 * 50 * 4 + 200);
  EXPECT_EQ(StepName(plan, plan.certificate.step),
            "fc2: calculate derivative by slices");
  EXPECT_EQ(plan.arena_bytes, plan.certificate.bytes);
  EXPECT_LE(plan.planned_bytes(), 38800);
  // Without slices it needs another tensor of the ReLU's size, but not the
  // slice.
  MemoryOptions whole;
  whole.slice_derivatives = false;
  EXPECT_EQ(
      Plan(TabularMlp(32), NetworkMode::kTraining, whole).certificate.bytes,
      3 * 32 * 50 * 4 + 50 * 50 * 4 + 200);
}

TEST(ExecutionPlanTest, InferenceOfVggNeedsItsLargestLayerAlone) {
  const auto plan = PlanExecution(Vgg16(1), NetworkMode::kInference, {},
                                  /*optimizer_states=*/0, ReferenceMath());
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->arena_bytes, 524288);
  EXPECT_EQ(plan->certificate.bytes, 524288);
}

// The plan includes the fast backend's workspace of that layer.
TEST(ExecutionPlanTest, InferenceOfVggPlansTheWorkspace) {
  const ExecutionPlan plan = Plan(Vgg16(1), NetworkMode::kInference);
  int64_t workspace_bytes = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.kind == TensorKind::kWorkspace) {
      workspace_bytes = std::max(workspace_bytes, tensor.size_bytes);
    }
  }
  EXPECT_GT(workspace_bytes, 0);
  EXPECT_EQ(plan.arena_bytes, 524288 + workspace_bytes);
  EXPECT_EQ(plan.certificate.bytes, 524288 + workspace_bytes);
}

TEST(ExecutionPlanTest, ReferenceNetworksMeetTheirBound) {
  for (const Network& network :
       {TabularMlp(32), DigitMlp(32), LeNet5(32), SmallLeNet(32), Vgg16(32),
        ResNet18(32), SmallTransformer(32)}) {
    const ExecutionPlan plan = Plan(network, NetworkMode::kTraining);
    EXPECT_EQ(plan.planned_bytes(), plan.bound_bytes())
        << plan.network->layers[0].name;
    EXPECT_EQ(PlaySteps(plan), "");
  }
}

// Each tensor of the certificate was written by that step and is read there or
// later. Workspaces, and what a pooling saves of an input that needs no
// derivative, need not be read.
TEST(ExecutionPlanTest, EachTensorOfTheCertificateIsInUseAtItsStep) {
  std::vector<Network> networks = {TabularMlp(32), LeNet5(4), Vgg16(2),
                                   ResNet18(2), SmallTransformer(2)};
  for (uint32_t seed = 0; seed < 60; ++seed) {
    networks.push_back(RandomNetwork(seed));
  }
  for (const Network& network : networks) {
    const ExecutionPlan plan = Plan(network, NetworkMode::kTraining);
    const int64_t step = plan.certificate.step;
    int64_t bytes = 0;
    for (const size_t t : plan.certificate.tensors) {
      const PlannedTensor& tensor = plan.tensors[t];
      bytes += tensor.size_bytes;
      int64_t written = -1;
      int64_t last = -1;
      const bool must_be_read = tensor.kind != TensorKind::kWorkspace &&
                                tensor.kind != TensorKind::kSaved;
      for (size_t s = 0; s < plan.steps.size(); ++s) {
        for (const TensorUse& use : plan.steps[s].uses) {
          if (use.tensor != t) continue;
          if (use.written && written < 0) written = static_cast<int64_t>(s);
          if (use.read || !must_be_read) last = static_cast<int64_t>(s);
        }
      }
      EXPECT_GE(written, 0) << tensor.name;
      EXPECT_LE(written, step) << tensor.name;
      EXPECT_GE(last, step) << tensor.name;
    }
    EXPECT_LE(bytes, plan.certificate.bytes);
    EXPECT_GE(bytes, plan.certificate.bytes - 16 * 100);  // alignment
  }
}

TEST(ExecutionPlanTest, ActivationsLieOnWhatTheyReadIfNobodyElseDoes) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc", FullyConnected(3), {"x"});
  network.AddLayer("relu", Relu(), {"fc"});
  network.AddLayer("flatten", Flatten(), {"relu"});
  network.AddLayer("sigmoid", Sigmoid(), {"flatten"});
  network.AddLayer("sum", Add(), {"sigmoid", "fc"});
  network.AddLayer("loss", MeanSquaredError(), {"sum"});
  MemoryOptions keep;
  keep.recompute_outputs = false;
  const ExecutionPlan plan = Plan(network, NetworkMode::kTraining, keep);
  // The sum also reads fc, so ReLU must not overwrite it. ReLU's derivative
  // reads ReLU's output, so sigmoid must not overwrite the flattened tensor,
  // which is the same bytes.
  EXPECT_NE(FindStorage(plan, "relu output"), FindStorage(plan, "fc output"));
  EXPECT_EQ(FindStorage(plan, "flatten output"),
            FindStorage(plan, "relu output"));
  EXPECT_NE(FindStorage(plan, "sigmoid output"),
            FindStorage(plan, "flatten output"));
  EXPECT_EQ(FindStorage(plan, "sum output"), FindStorage(plan, "fc output"));
  const ExecutionPlan inference = Plan(network, NetworkMode::kInference);
  EXPECT_EQ(FindStorage(inference, "sigmoid output"),
            FindStorage(inference, "relu output"));
}

TEST(ExecutionPlanTest, InputsOfAnInferenceAreNeverWritten) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("flatten", Flatten(), {"x"});
  network.AddLayer("relu", Relu(), {"flatten"});
  network.AddLayer("relu2", Relu(), {"relu"});
  const ExecutionPlan plan = Plan(network, NetworkMode::kInference);
  EXPECT_EQ(plan.storages[FindStorage(plan, "flatten output")].storage_class,
            StorageClass::kUser);
  // The output is computed in its final place.
  EXPECT_EQ(plan.storages[FindStorage(plan, "relu output")].storage_class,
            StorageClass::kFixed);
  EXPECT_EQ(plan.arena_bytes, 0);
}

TEST(ExecutionPlanTest, OptimizerStatesAreSeenInTheBound) {
  const int64_t none =
      Plan(TabularMlp(32), NetworkMode::kTraining).bound_bytes();
  const int64_t two =
      Plan(TabularMlp(32), NetworkMode::kTraining, {}, 2).bound_bytes();
  EXPECT_NEAR(static_cast<double>(two - none), 2 * 13204, 12 * 16);
}

TEST(ExecutionPlanTest, KindsAddUpToTheBytesOfAStep) {
  const ExecutionPlan plan = Plan(LeNet5(8), NetworkMode::kTraining);
  int64_t most = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    int64_t sum = 0;
    for (const int64_t bytes : LiveBytesByKind(plan, static_cast<int64_t>(s))) {
      sum += bytes;
    }
    most = std::max(most, sum);
  }
  EXPECT_LE(most, plan.bound_bytes());
  EXPECT_GE(most, plan.bound_bytes() - 16 * 100);
}

TEST(ExecutionPlanTest, ABudgetIsMetByCalculatingAgain) {
  struct Case {
    Network network;
    int64_t budget_bytes;
  };
  for (const Case& c :
       {Case{Vgg16(32), 80000000}, Case{ResNet18(32), 105000000},
        Case{SmallTransformer(32), 26000000}}) {
    MemoryOptions options;
    options.budget_bytes = c.budget_bytes;
    const ExecutionPlan plan = Plan(c.network, NetworkMode::kTraining, options);
    EXPECT_LE(plan.planned_bytes(), c.budget_bytes);
    EXPECT_EQ(PlaySteps(plan), "");
    // A training step takes about three forward passes, so a third of one is a
    // ninth of a step.
    EXPECT_GT(plan.recompute_products(), 0);
    EXPECT_LE(plan.recompute_products(), plan.forward_products() / 3);
    EXPECT_EQ(Plan(c.network, NetworkMode::kTraining).recompute_products(), 0);
  }
}

TEST(ExecutionPlanTest, ABudgetBelowTheMinimumIsRefusedWithTheMinimum) {
  MemoryOptions options;
  options.budget_bytes = 0;
  const auto refused =
      PlanExecution(TabularMlp(32), NetworkMode::kTraining, options);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted));
  const int64_t least = LeastBudgetNamed(refused.status());
  EXPECT_GT(least, 4 * 13 * 50);
  EXPECT_LE(least, 38432);  // of the greedy path
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr(absl::StrCat("infeasible within 0 bytes: the minimum "
                                     "found is ",
                                     least, " bytes, at fc2: calculate ")));
  options.budget_bytes = least - 1;
  EXPECT_EQ(LeastBudgetNamed(
                PlanExecution(TabularMlp(32), NetworkMode::kTraining, options)
                    .status()),
            least);
  options.budget_bytes = least;
  EXPECT_EQ(
      Plan(TabularMlp(32), NetworkMode::kTraining, options).planned_bytes(),
      least);
}

TEST(ExecutionPlanTest, WithinAnyBudgetNothingIsReadAfterItWasOverwritten) {
  std::mt19937 random(2);
  int swapped = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Network network = RandomNetwork(seed);
    MemoryOptions options;
    options.clip_global_norm = random() % 3 == 0;
    options.micro_batches = RandomParts(network, &random);
    options.swap_to_file = true;
    int met = 0;
    for (int64_t bytes =
             Plan(network, NetworkMode::kTraining, options).planned_bytes();
         ; bytes -= 1 + bytes / 16) {
      options.budget_bytes = bytes;
      auto plan = PlanExecution(network, NetworkMode::kTraining, options);
      const bool is_least = !plan.ok();
      if (is_least) {
        options.budget_bytes = LeastBudgetNamed(plan.status());
        plan = PlanExecution(network, NetworkMode::kTraining, options);
      }
      ASSERT_THAT(plan, IsOk()) << seed;
      EXPECT_LE(plan->planned_bytes(), options.budget_bytes);
      EXPECT_EQ(PlaySteps(*plan), "") << "seed " << seed;
      swapped += plan->swap_file_bytes > 0;
      if (is_least) break;
      ++met;
    }
    EXPECT_GT(met, 0) << "seed " << seed;
  }
  EXPECT_GT(swapped, 0);
}

// Returns the size that a planning error names.
int64_t PlanMinimum(const Network& network, MemoryOptions options) {
  options.budget_bytes = 0;
  const auto refused = PlanExecution(network, NetworkMode::kTraining, options);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted));
  return LeastBudgetNamed(refused.status());
}

TEST(ExecutionPlanTest, TheMinimumThatARefusalNamesIsAccepted) {
  for (uint32_t seed = 0; seed < 16; ++seed) {
    const Network network = RandomNetwork(seed);
    MemoryOptions options;
    options.swap_to_file = seed % 4 > 1;
    options.choose_micro_batches = seed % 2 == 1;
    options.budget_bytes = PlanMinimum(network, options);
    EXPECT_EQ(Plan(network, NetworkMode::kTraining, options).planned_bytes(),
              options.budget_bytes)
        << seed;
    --options.budget_bytes;
    EXPECT_THAT(PlanExecution(network, NetworkMode::kTraining, options),
                Not(IsOk()));
  }
}

TEST(ExecutionPlanTest, MicroBatchesAreChosenWhereTheyHelpAndAreAllowed) {
  for (const Network& network : {LeNet5(32), SmallTransformer(32)}) {
    MemoryOptions options;
    const int64_t alone = PlanMinimum(network, options);
    options.budget_bytes = alone;
    options.choose_micro_batches = true;
    EXPECT_EQ(Plan(network, NetworkMode::kTraining, options).micro_batches, 1);
    options.budget_bytes = alone - 1;
    const ExecutionPlan parts = Plan(network, NetworkMode::kTraining, options);
    EXPECT_GT(parts.micro_batches, 1);
    EXPECT_LT(parts.planned_bytes(), alone);
    EXPECT_LT(PlanMinimum(network, options), alone * 9 / 10);
  }
}

// Few weights and large activations, as for camera images.
Network Camera(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 3, 28, 40}});
  Convolution2dOptions filters;
  filters.channels = 16;
  filters.padding = 1;
  network.AddLayer("conv1", Convolution2d(filters), {"image"});
  network.AddLayer("tanh1", Tanh(), {"conv1"});
  network.AddLayer("conv2", Convolution2d(filters), {"tanh1"});
  network.AddLayer("tanh2", Tanh(), {"conv2"});
  network.AddLayer("pool", AveragePool2d(4), {"tanh2"});
  network.AddLayer("flat", Flatten(), {"pool"});
  network.AddLayer("fc", FullyConnected(10), {"flat"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  return network;
}

// The batches are a prime, and a number that no power of two divides.
TEST(ExecutionPlanTest, AnyDivisorOfTheBatchIsTried) {
  for (const int64_t batch : {13, 21}) {
    MemoryOptions options;
    const int64_t whole = PlanMinimum(Camera(batch), options);
    options.micro_batches = batch;
    const int64_t single = PlanMinimum(Camera(batch), options);
    options.micro_batches = 1;
    options.choose_micro_batches = true;
    EXPECT_LE(PlanMinimum(Camera(batch), options), single) << batch;
    EXPECT_LT(single, whole / 3) << batch;
  }
  // The fewest parts that meet the budget are chosen.
  MemoryOptions options;
  options.micro_batches = 3;
  options.budget_bytes =
      Plan(Camera(21), NetworkMode::kTraining, options).planned_bytes();
  options.micro_batches = 1;
  options.choose_micro_batches = true;
  EXPECT_EQ(Plan(Camera(21), NetworkMode::kTraining, options).micro_batches, 3);
}

TEST(ExecutionPlanTest, PartsThatChangeStatisticsAreNamed) {
  Network network;
  network.AddInput("x", {{6, 64}});
  network.AddLayer("fc", FullyConnected(4), {"x"});
  network.AddLayer("norm", BatchNormalization(), {"fc"});
  network.AddLayer("loss", MeanSquaredError(), {"norm"});
  MemoryOptions options;
  options.budget_bytes = 0;
  const auto refused =
      PlanExecution(network, NetworkMode::kTraining, options).status();
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("choose_micro_batches (then layer \"norm\" normalizes "
                        "over a part of the batch: the result is another)"));
  EXPECT_THAT(Plan(network, NetworkMode::kTraining).LayersOfPartStatistics(),
              ::testing::IsEmpty());
  options = {};
  options.micro_batches = 3;
  EXPECT_THAT(
      Plan(network, NetworkMode::kTraining, options).LayersOfPartStatistics(),
      ::testing::ElementsAre("norm"));
  // A single row has no variance, so six parts are not tried.
  options.micro_batches = 1;
  options.choose_micro_batches = true;
  EXPECT_GT(PlanMinimum(network, options), 0);
}

// Gradients wait for each other, and nothing else does.
TEST(ExecutionPlanTest, AtomicStepsTakeTheBytesOfGradientsAtMost) {
  for (const Network& network :
       {TabularMlp(32), LeNet5(32), Vgg16(32), SmallTransformer(32)}) {
    MemoryOptions options;
    const ExecutionPlan plan = Plan(network, NetworkMode::kTraining, options);
    options.atomic_steps = true;
    const ExecutionPlan atomic = Plan(network, NetworkMode::kTraining, options);
    EXPECT_EQ(PlaySteps(atomic), "");
    EXPECT_GE(atomic.planned_bytes(), plan.planned_bytes());
    EXPECT_LE(atomic.planned_bytes(),
              plan.planned_bytes() + plan.model_bytes + 16 * 200);
    bool updates = false;
    for (const PlannedStep& step : atomic.steps) {
      updates |= step.kind == StepKind::kApplyGradient;
      EXPECT_EQ(updates, step.kind == StepKind::kApplyGradient);
    }
    // Sums over micro-batches wait in any case.
    options.micro_batches = 4;
    const int64_t parts =
        Plan(network, NetworkMode::kTraining, options).planned_bytes();
    options.atomic_steps = false;
    EXPECT_EQ(Plan(network, NetworkMode::kTraining, options).planned_bytes(),
              parts);
  }
}

TEST(ExecutionPlanTest, ARefusedInferenceIsGivenNoAdviceForATraining) {
  MemoryOptions options;
  options.budget_bytes = 1;
  const absl::Status status =
      PlanExecution(TabularMlp(32), NetworkMode::kInference, options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a budget of that size would do; a smaller batch may "
                        "need less"));
}

TEST(ExecutionPlanTest, WhatIsOffIsNamedWhereABudgetIsRefused) {
  MemoryOptions options;
  options.budget_bytes = 1;
  const auto message = [&options] {
    return std::string(
        PlanExecution(TabularMlp(32), NetworkMode::kTraining, options)
            .status()
            .message());
  };
  EXPECT_THAT(message(), HasSubstr("a smaller batch, MemoryOptions::choose_"
                                   "micro_batches, MemoryOptions::swap_to_file "
                                   "may need less"));
  options.choose_micro_batches = true;
  options.swap_to_file = true;
  EXPECT_THAT(message(), HasSubstr("a smaller batch may need less"));
}

// A small trained layer before a frozen one whose matrix takes 2 MiB.
Network WideFrozen(int64_t rows) {
  Network network;
  network.AddInput("rows", {{rows, 8}});
  network.AddLayer("first", FullyConnected(256), {"rows"});
  network.AddLayer("wide", FullyConnected(2048), {"first"});
  network.AddLayer("loss", MeanSquaredError(), {"wide"});
  network.Freeze("wide.*");
  return network;
}

TEST(ExecutionPlanTest, AnInferenceBesideATrainingTakesNoMoreThanItsArena) {
  const Network network = WideFrozen(4);
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.budget_bytes = 1;
  options.budget_bytes = LeastBudgetNamed(
      PlanExecution(network, NetworkMode::kTraining, options).status());
  const ExecutionPlan training = Plan(network, NetworkMode::kTraining, options);
  const auto inference =
      PlanInferenceBeside(training, network, options, HighwayBackend());
  ASSERT_THAT(inference, IsOk());
  EXPECT_EQ(inference->mode, NetworkMode::kInference);
  EXPECT_LE(inference->arena_bytes, training.arena_bytes);
  EXPECT_LT(inference->arena_bytes, 2 << 20);
  // With weights in memory, it is planned as any inference.
  options = MemoryOptions();
  const auto resident =
      PlanInferenceBeside(Plan(network, NetworkMode::kTraining), network,
                          options, HighwayBackend());
  ASSERT_THAT(resident, IsOk());
  EXPECT_EQ(resident->fingerprint,
            Plan(network, NetworkMode::kInference).fingerprint);
}

// The first layer's outputs of 512 rows take more than the arena of a training
// in parts.
TEST(ExecutionPlanTest, AnInferenceThatNeedsMoreThanATrainingTakesTheLeast) {
  const Network network = WideFrozen(512);
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.micro_batches = 128;
  options.budget_bytes = 1;
  options.budget_bytes = LeastBudgetNamed(
      PlanExecution(network, NetworkMode::kTraining, options).status());
  const ExecutionPlan training = Plan(network, NetworkMode::kTraining, options);
  const auto inference =
      PlanInferenceBeside(training, network, options, HighwayBackend());
  ASSERT_THAT(inference, IsOk());
  EXPECT_GT(inference->arena_bytes, training.arena_bytes);
  MemoryOptions least;
  least.read_frozen_weights = true;
  least.budget_bytes = 1;
  EXPECT_EQ(
      inference->planned_bytes(),
      LeastBudgetNamed(
          PlanExecution(network, NetworkMode::kInference, least).status()));
}

// Plans an evaluation beside a training in parts. Stores what the evaluation
// needs for steps and outputs, and the training's arena.
int64_t RowsOfEvaluation(const Network& network, int64_t parts, int64_t* bytes,
                         int64_t* training_arena_bytes) {
  MemoryOptions options;
  options.micro_batches = parts;
  const ExecutionPlan training = Plan(network, NetworkMode::kTraining, options);
  const auto evaluation =
      PlanEvaluationBeside(training, network, options, HighwayBackend());
  EXPECT_THAT(evaluation, IsOk());
  if (!evaluation.ok()) return 0;
  *bytes = evaluation->arena_bytes + evaluation->fixed_bytes;
  *training_arena_bytes = training.arena_bytes;
  return Find(*evaluation, "rows").spec.shape.extent(0);
}

// 512 rows of 2,048 floats take 4 MiB, and one of 128 parts takes 32 KiB.
TEST(ExecutionPlanTest, AnEvaluationBesideMicroBatchesHasTheirSize) {
  int64_t bytes = 0;
  int64_t training_bytes = 0;
  EXPECT_EQ(RowsOfEvaluation(WideFrozen(512), 128, &bytes, &training_bytes), 4);
  constexpr int64_t kLossBytes = 4;
  EXPECT_LE(bytes, training_bytes + kLossBytes);
  EXPECT_EQ(RowsOfEvaluation(WideFrozen(512), 1, &bytes, &training_bytes), 512);
}

// A part may have no label but the ignored one.
TEST(ExecutionPlanTest, AnEvaluationThatIgnoresALabelHasTheWholeBatch) {
  Network network;
  network.AddInput("rows", {{512, 8}});
  network.AddLayer("wide", FullyConnected(2048), {"rows"});
  SoftmaxOptions ignores;
  ignores.ignored_label = -1;
  network.AddLayer("loss", SoftmaxCrossEntropy(ignores), {"wide"});
  int64_t bytes = 0;
  int64_t training_bytes = 0;
  EXPECT_EQ(RowsOfEvaluation(network, 128, &bytes, &training_bytes), 512);
  EXPECT_GT(bytes, training_bytes);
}

// In inference nothing but the loss would remain, which has no step.
TEST(ExecutionPlanTest, ALossAloneIsRefusedWithoutAStep) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("loss", MeanSquaredError(), {"x"});
  MemoryOptions options;
  options.budget_bytes = -1;
  const absl::Status status =
      PlanExecution(network, NetworkMode::kInference, options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the minimum found is 0 bytes; a budget"));
}

TEST(ExecutionPlanTest, NumbersOfMicroBatchesDoNotOverflow) {
  MemoryOptions options;
  options.choose_micro_batches = true;
  options.micro_batches = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(PlanExecution(TabularMlp(4), NetworkMode::kTraining, options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options.micro_batches = 1;
  EXPECT_THAT(PlanExecution(TabularMlp(int64_t{1} << 62),
                            NetworkMode::kTraining, options),
              StatusIs(absl::StatusCode::kOutOfRange));
}

// Each part fits 64 bits, but their sum does not.
TEST(ExecutionPlanTest, RefusesMoreBytesThanItCanAddUp) {
  Network network;
  network.AddInput("x", {{1, 1}});
  network.AddLayer("layer0", FullyConnected(int64_t{1} << 56), {"x"});
  for (int i = 1; i < 10; ++i) {
    network.AddLayer(absl::StrCat("layer", i), Gelu(),
                     {absl::StrCat("layer", i - 1)});
  }
  network.AddLayer("loss", MeanSquaredError(), {"layer9"});
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions::Debug());
  EXPECT_THAT(plan, StatusIs(absl::StatusCode::kOutOfRange))
      << (plan.ok() ? plan->planned_bytes() : 0);
}

TEST(ExecutionPlanTest, RefusesAnAlignmentThatIsNone) {
  for (const int64_t alignment : {0, 2, 12, -16, 128, 4096}) {
    MemoryOptions options;
    options.alignment_bytes = alignment;
    const auto plan =
        PlanExecution(TabularMlp(1), NetworkMode::kTraining, options);
    EXPECT_THAT(std::string(plan.status().message()), HasSubstr("alignment"));
  }
}

TEST(ExecutionPlanTest, RefusesStatesThatNoOptimizerHas) {
  for (const int states : {-1, 5}) {
    const auto plan =
        PlanExecution(TabularMlp(1), NetworkMode::kTraining, {}, states);
    EXPECT_THAT(plan, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(plan.status().message()),
                HasSubstr(std::to_string(states) + " states"));
  }
}

TEST(ExecutionPlanTest, NamesTheLayerOfAnError) {
  EXPECT_THAT(
      std::string(PlanExecution(TabularMlp(0), NetworkMode::kTraining, {})
                      .status()
                      .message()),
      HasSubstr("input \"rows\""));
}

}  // namespace
}  // namespace footprint

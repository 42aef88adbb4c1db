#include "footprint/trainer_manager/runtime/step_table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ExecutionPlan Plan(const Network& network, NetworkMode mode,
                   const MemoryOptions& options = {}) {
  const auto plan = PlanExecution(network, mode, options);
  EXPECT_THAT(plan, IsOk());
  return plan.ok() ? *plan : ExecutionPlan();
}

// Returns the address of a tensor according to the plan's storage.
const void* Expected(const ExecutionPlan& plan, size_t t,
                     const Parameters& parameters, const char* fixed,
                     const StepTable::Memory& memory) {
  const PlannedTensor& tensor = plan.tensors[t];
  switch (plan.StorageOfTensor(t).storage_class) {
    case StorageClass::kArena:
      return memory.arena + plan.OffsetOfTensor(t);
    case StorageClass::kModel:
      return parameters.Find(tensor.name)->data();
    case StorageClass::kUser:
      for (size_t i = 0; i < plan.input_tensors.size(); ++i) {
        if (plan.storage_of[plan.input_tensors[i]] == plan.storage_of[t]) {
          return memory.inputs[i];
        }
      }
      return nullptr;
    case StorageClass::kFixed:
      break;
  }
  const bool by_part =
      plan.mode == NetworkMode::kTraining &&
      (tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kLabel);
  return fixed + plan.OffsetOfTensor(t) +
         (by_part ? memory.micro_batch * SizeBytes(tensor.spec) : 0);
}

void ExpectTableIsThePlan(const ExecutionPlan& plan, int64_t micro_batch) {
  const auto parameters = *Parameters::Create(plan, 1);
  auto table = StepTable::Create(plan, *parameters);
  ASSERT_THAT(table, IsOk());
  std::vector<char> arena(static_cast<size_t>(plan.arena_bytes) + 1);
  const float values[2] = {};
  const std::vector<const void*> inputs = {&values[0], &values[1]};
  const StepTable::Memory memory = {arena.data(), inputs, micro_batch};
  ASSERT_EQ(table->steps().size(), plan.steps.size());
  uint32_t uses = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlannedStep& planned = plan.steps[s];
    const StepTable::Step& step = table->steps()[s];
    EXPECT_EQ(step.kind, planned.kind);
    EXPECT_EQ(step.layer, planned.layer);
    EXPECT_EQ(step.first_use, uses);
    EXPECT_EQ(std::string(table->LayerNameAt(step.layer).Text()),
              plan.network->layers[planned.layer].name);
    const auto slots = table->SlotsAt(step, memory);
    ASSERT_EQ(slots.size(), planned.uses.size());
    for (size_t u = 0; u < slots.size(); ++u) {
      const TensorUse& use = planned.uses[u];
      const PlannedTensor& tensor = plan.tensors[use.tensor];
      EXPECT_TRUE(slots[u].operand == use.operand);
      EXPECT_EQ(slots[u].readable, use.read);
      EXPECT_EQ(slots[u].writable, use.written);
      EXPECT_EQ(slots[u].spec->shape, tensor.spec.shape);
      EXPECT_EQ(slots[u].spec->type, tensor.spec.type);
      EXPECT_EQ(slots[u].data,
                Expected(plan, use.tensor, *parameters, table->fixed(), memory))
          << tensor.name;
    }
    uses += static_cast<uint32_t>(slots.size());
  }
}

TEST(StepTableTest, EachOperandLiesWhereThePlanSays) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Network network = seed % 4 == 0   ? RandomRowNetwork(seed)
                            : seed % 4 == 1 ? RandomImageNetwork(seed)
                            : seed % 4 == 2 ? RandomTokenNetwork(seed)
                                            : RandomGatedNetwork(seed);
    for (const MemoryOptions& options :
         {MemoryOptions(), MemoryOptions::Debug()}) {
      ExpectTableIsThePlan(Plan(network, NetworkMode::kTraining, options), 0);
      ExpectTableIsThePlan(Plan(network, NetworkMode::kInference, options), 0);
    }
  }
}

TEST(StepTableTest, MicroBatchesLieOneAfterTheOther) {
  MemoryOptions options;
  options.micro_batches = 4;
  const ExecutionPlan plan =
      Plan(TabularMlp(8), NetworkMode::kTraining, options);
  for (const int64_t part : {0, 1, 3}) ExpectTableIsThePlan(plan, part);
}

TEST(StepTableTest, FixedTensorsAreZeroAndWhole) {
  const ExecutionPlan plan = Plan(TabularMlp(8), NetworkMode::kTraining);
  const auto table = StepTable::Create(plan, **Parameters::Create(plan, 1));
  ASSERT_THAT(table, IsOk());
  for (int64_t i = 0; i < plan.fixed_bytes; ++i) {
    EXPECT_EQ(table->fixed()[i], 0);
    table->fixed()[i] = 1;
  }
  EXPECT_EQ(table->steps().size(), plan.steps.size());
  EXPECT_EQ(table->steps()[0].kind, StepKind::kForward);
  EXPECT_EQ(
      table->specs()[table->NumberSpec(plan.tensors[plan.input_tensors[0]])]
          .shape,
      (Shape{8, 13}));
}

TEST(StepTableTest, KnowsPiecesOfTheFileLayersBeforeAndForwardSteps) {
  ExecutionPlan plan;
  ResolvedNetwork network;
  network.inputs.resize(2);
  network.layers.resize(3);
  network.layers[2].inputs = {3};
  plan.network = std::make_shared<const ResolvedNetwork>(network);
  const auto add = [&plan](StepKind kind, int64_t offset_bytes) {
    PlannedStep step;
    step.kind = kind;
    step.layer = 2;
    step.file_offset_bytes = offset_bytes;
    plan.steps.push_back(step);
  };
  add(StepKind::kSwapOut, 0);
  add(StepKind::kSwapOut, 4096);
  add(StepKind::kSlicedDerivative, 0);
  add(StepKind::kSwapIn, 4096);
  add(StepKind::kSwapIn, 0);
  add(StepKind::kForward, 0);
  add(StepKind::kRecompute, 0);
  plan.fingerprint = PlanFingerprint(plan);
  const auto table = StepTable::Create(plan, **Parameters::Create(plan, 1));
  ASSERT_THAT(table, IsOk());
  std::vector<uint32_t> others;
  for (const StepTable::Step& step : table->steps()) {
    others.push_back(step.other);
  }
  EXPECT_THAT(others, ElementsAre(0, 1, 1, 1, 0, 1, 5));
}

TEST(StepTableTest, RefusesParametersOfAnotherNetwork) {
  const ExecutionPlan plan = Plan(TabularMlp(8), NetworkMode::kTraining);
  const ExecutionPlan digits = Plan(DigitMlp(8), NetworkMode::kTraining);
  Network other;
  other.AddInput("rows", {{8, 13}});
  other.AddLayer("other", FullyConnected(1), {"rows"});
  other.AddLayer("loss", MeanSquaredError(), {"other"});
  for (const ExecutionPlan& wrong :
       {digits, Plan(other, NetworkMode::kTraining)}) {
    const auto table = StepTable::Create(plan, **Parameters::Create(wrong, 1));
    EXPECT_THAT(table, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(table.status().message()), HasSubstr("fc1.weight"));
  }
}

TEST(StepTableTest, RefusesMoreOperandsThanItCanCount) {
  ExecutionPlan plan = Plan(TabularMlp(8), NetworkMode::kTraining);
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(plan, 1);
  plan.steps[0].uses.resize(65536, plan.steps[0].uses[0]);
  const absl::Status status = StepTable::Create(plan, *parameters).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("layer \"fc1\" has more than 65535 operands"));
}

}  // namespace
}  // namespace footprint

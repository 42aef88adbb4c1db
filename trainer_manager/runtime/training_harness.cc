#include "footprint/trainer_manager/runtime/training_harness.h"

#include <utility>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

ManagerOptions DescentOptions(float rate) {
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(rate);
  return options;
}

}  // namespace

std::vector<float> RandomValues(size_t count, uint64_t seed) {
  RandomSequence random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.SignedUnit();
  return values;
}

Training Train(const Network& network, const MemoryOptions& memory,
               ManagerOptions options) {
  if (options.optimizer == nullptr) {
    options.optimizer = StochasticGradientDescent(0.05f);
  }
  Training training;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, memory,
                                  options.optimizer->states_per_weight());
  EXPECT_THAT(plan, IsOk());
  training.plan = *plan;
  const auto parameters = Parameters::Create(*plan, 3);
  EXPECT_THAT(parameters, IsOk());
  training.parameters = *parameters;
  auto manager = Manager::Create(*plan, *parameters, options);
  EXPECT_THAT(manager, IsOk());
  training.manager = std::move(*manager);
  return training;
}

TabularSteps::TabularSteps(NetworkMode mode, const MemoryOptions& memory,
                           bool watch_lent)
    : plan(*PlanExecution(TabularMlp(4), mode, memory)),
      parameters(*Parameters::Create(plan, 1)),
      runner(plan, *StepTable::Create(plan, *parameters), DescentOptions(0.01f),
             *GroupOptimizers::Create(*plan.network,
                                      StochasticGradientDescent(0.01f)),
             &buffers),
      buffers(plan, runner.table(), watch_lent) {}

void TabularSteps::SetBatch(const std::vector<float>& labels) {
  const std::vector<float> rows(4 * 13, 0.5f);
  EXPECT_THAT(buffers.Set(BatchPart::kInput, 0, absl::MakeConstSpan(rows)),
              IsOk());
  EXPECT_THAT(buffers.Set(BatchPart::kLabel, 0, absl::MakeConstSpan(labels)),
              IsOk());
}

void SetRows(Manager* manager) {
  const std::vector<float> rows = RandomValues(8 * 13, 5);
  std::vector<float> labels;
  for (size_t r = 0; r < 8; ++r) {
    labels.push_back(rows[r * 13] - 2 * rows[r * 13 + 4]);
  }
  ASSERT_THAT(manager->SetInput(0, rows), IsOk());
  ASSERT_THAT(manager->SetLabel(labels), IsOk());
}

void SetZeros(const ExecutionPlan& plan, Manager* manager) {
  for (size_t i = 0; i < plan.input_tensors.size(); ++i) {
    const bool floats =
        plan.tensors[plan.input_tensors[i]].spec.type == DType::kF32;
    EXPECT_THAT(floats ? manager->InputValues(i).status()
                       : manager->InputValues<int32_t>(i).status(),
                IsOk());
  }
  const bool floats =
      plan.tensors[plan.label_tensors[0]].spec.type == DType::kF32;
  EXPECT_THAT(floats ? manager->LabelValues().status()
                     : manager->LabelValues<int32_t>().status(),
              IsOk());
}

std::vector<float> AllParameters(const Parameters& parameters) {
  std::vector<float> values;
  for (const Parameters::Parameter& parameter : parameters.all()) {
    values.insert(values.end(), parameter.values.begin(),
                  parameter.values.end());
  }
  return values;
}

}  // namespace footprint

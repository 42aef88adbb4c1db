// Measures peak memory and processor time of training each reference network,
// by phase: planning, creating weights and manager, the first step, which
// allocates the arena, and further steps, which allocate nothing. SGD, batch
// 32, one thread, HighwayBackend with its workspaces. The network is described
// outside the measurement. The planned bytes and the certified bound are
// printed next to the figures.

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/types/optional.h"
#include "benchmark/benchmark.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

namespace footprint {
namespace {

// Leaves inputs and labels at zero, since memory does not depend on them.
bool LeaveZeros(const ExecutionPlan& plan, Manager* manager) {
  const auto holds_indices = [&plan](size_t tensor) {
    return plan.tensors[tensor].spec.type == DType::kI32;
  };
  return (holds_indices(plan.input_tensors[0])
              ? manager->InputValues<int32_t>(0).ok()
              : manager->InputValues(0).ok()) &&
         (holds_indices(plan.label_tensors[0])
              ? manager->LabelValues<int32_t>().ok()
              : manager->LabelValues().ok());
}

std::unique_ptr<Manager> CreateTraining(const Network& network,
                                        const MemoryOptions& memory,
                                        const OptimizerPointer& optimizer,
                                        benchmark::State* state) {
  absl::optional<ExecutionPlan> plan;
  {
    const MemoryPhase phase("plan");
    auto planned = PlanExecution(network, NetworkMode::kTraining, memory);
    if (!planned.ok()) return nullptr;
    plan = *std::move(planned);
  }
  state->counters["planned_bytes"] = static_cast<double>(plan->planned_bytes());
  state->counters["bound_bytes"] = static_cast<double>(plan->bound_bytes());
  const MemoryPhase phase("create");
  const auto parameters = Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return nullptr;
  ManagerOptions options;
  options.optimizer = optimizer;
  auto manager = Manager::Create(*plan, *parameters, options);
  if (!manager.ok() || !LeaveZeros(*plan, manager->get())) return nullptr;
  return *std::move(manager);
}

void Train(benchmark::State& state, const Network& network,
           const MemoryOptions& memory) {
  const OptimizerPointer optimizer = StochasticGradientDescent(0.01f);
  for (auto _ : state) {
    const std::unique_ptr<Manager> manager =
        CreateTraining(network, memory, optimizer, &state);
    bool trained = manager != nullptr;
    if (trained) {
      const MemoryPhase phase("first step");
      trained = manager->TrainStep().ok();
    }
    // All further steps use the heap in the same way, so one is enough.
    if (trained) {
      const MemoryPhase phase("further steps");
      trained = manager->TrainStep().ok();
    }
    if (!trained) {
      state.SkipWithError("the network cannot be trained");
      return;
    }
  }
}

template <Network (*kNetwork)(int64_t)>
void BM_Train(benchmark::State& state) {
  Train(state, kNetwork(state.range(0)), MemoryOptions());
}

// The baseline: each tensor has its own memory.
template <Network (*kNetwork)(int64_t)>
void BM_TrainInDebugMode(benchmark::State& state) {
  Train(state, kNetwork(state.range(0)), MemoryOptions::Debug());
}

// Only lifespans save memory; nothing is recomputed.
template <Network (*kNetwork)(int64_t)>
void BM_TrainPlain(benchmark::State& state) {
  MemoryOptions memory;
  memory.recompute_outputs = false;
  memory.restore_pooled = false;
  Train(state, kNetwork(state.range(0)), memory);
}

// Segments are recomputed.
template <Network (*kNetwork)(int64_t)>
void BM_TrainWithinBudget(benchmark::State& state) {
  MemoryOptions memory;
  memory.budget_bytes = state.range(1);
  Train(state, kNetwork(state.range(0)), memory);
}

BENCHMARK(BM_Train<TabularMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<TabularMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_Train<DigitMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<DigitMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_Train<LeNet5>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<LeNet5>)->ArgName("batch")->Arg(32);

BENCHMARK(BM_Train<Vgg16>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainPlain<Vgg16>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainWithinBudget<Vgg16>)
    ->ArgNames({"batch", "budget"})
    ->Args({32, 80000000});
BENCHMARK(BM_Train<ResNet18>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainPlain<ResNet18>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainWithinBudget<ResNet18>)
    ->ArgNames({"batch", "budget"})
    ->Args({32, 105000000});
BENCHMARK(BM_Train<SmallTransformer>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainPlain<SmallTransformer>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainWithinBudget<SmallTransformer>)
    ->ArgNames({"batch", "budget"})
    ->Args({32, 26000000});

}  // namespace
}  // namespace footprint

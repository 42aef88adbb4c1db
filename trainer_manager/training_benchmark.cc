// Peak memory and processor time of training each reference network, by phase:
// planning, creating weights and manager, the first step, which allocates the
// arena, and further steps, which allocate nothing. SGD, one thread, FastMath
// with its workspaces. The network's description is set up outside and not
// measured.

#include <memory>
#include <utility>

#include "absl/types/optional.h"
#include "benchmark/benchmark.h"
#include "footprint/profiling/memory_phase.h"
#include "footprint/trainer_manager/execution_plan.h"
#include "footprint/trainer_manager/manager.h"
#include "footprint/trainer_manager/network.h"
#include "footprint/trainer_manager/optimizer.h"
#include "footprint/trainer_manager/parameters.h"
#include "footprint/trainer_manager/reference_networks.h"

namespace footprint {
namespace {

std::unique_ptr<Manager> CreateTraining(const Network& network,
                                        const MemoryOptions& memory,
                                        const OptimizerPointer& optimizer) {
  absl::optional<ExecutionPlan> plan;
  {
    const MemoryPhase phase("plan");
    auto planned = PlanExecution(network, NetworkMode::kTraining, memory);
    if (!planned.ok()) return nullptr;
    plan = *std::move(planned);
  }
  const MemoryPhase phase("create");
  const auto parameters = Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return nullptr;
  ManagerOptions options;
  options.optimizer = optimizer;
  auto manager = Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return nullptr;
  return *std::move(manager);
}

void Train(benchmark::State& state, const Network& network,
           const MemoryOptions& memory) {
  const OptimizerPointer optimizer = StochasticGradientDescent(0.01f);
  for (auto _ : state) {
    const std::unique_ptr<Manager> manager =
        CreateTraining(network, memory, optimizer);
    bool trained = manager != nullptr;
    if (trained) {
      const MemoryPhase phase("first step");
      trained = manager->TrainStep().ok();
    }
    if (trained) {
      const MemoryPhase phase("further steps");
      trained = manager->TrainStep().ok() && manager->TrainStep().ok();
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

// Each tensor has a place of its own: the baseline.
template <Network (*kNetwork)(int64_t)>
void BM_TrainInDebugMode(benchmark::State& state) {
  Train(state, kNetwork(state.range(0)), MemoryOptions::Debug());
}

BENCHMARK(BM_Train<TabularMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<TabularMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_Train<DigitMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<DigitMlp>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_Train<LeNet5>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_TrainInDebugMode<LeNet5>)->ArgName("batch")->Arg(32);
BENCHMARK(BM_Train<SmallTransformer>)->ArgName("batch")->Arg(2);
BENCHMARK(BM_TrainInDebugMode<SmallTransformer>)->ArgName("batch")->Arg(2);

}  // namespace
}  // namespace footprint

// Measures processor time and peak memory of each planning method by the number
// of tensors, on training graphs and on perfect packings, and those of the
// bound and the validator. Requests are set up outside the loop and not
// measured.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "footprint/trainer_manager/planner/planner.h"

namespace {

void Plan(benchmark::State& state,
          const std::vector<footprint::TensorRequest>& requests,
          footprint::PlanMethod method) {
  footprint::PlanOptions options;
  options.method = method;
  double ratio = 0;
  for (auto _ : state) {
    const auto plan = footprint::PlanMemory(requests, options);
    if (!plan.ok()) {
      state.SkipWithError("no plan");
      return;
    }
    ratio = static_cast<double>(plan->height_bytes) /
            static_cast<double>(plan->lower_bound.bytes);
  }
  state.counters["ratio_to_bound"] = ratio;
}

template <footprint::PlanMethod kMethod, footprint::NetworkShape kShape>
void BM_PlanTraining(benchmark::State& state) {
  Plan(state, footprint::TrainingRequests(kShape, state.range(0), 301),
       kMethod);
}

template <footprint::PlanMethod kMethod, footprint::CutStyle kStyle>
void BM_PlanPerfectPacking(benchmark::State& state) {
  Plan(
      state,
      footprint::CutPerfectPacking(state.range(0), 1 << 20, kStyle, 0).requests,
      kMethod);
}

template <footprint::NetworkShape kShape>
void BM_BoundTraining(benchmark::State& state) {
  const auto requests =
      footprint::TrainingRequests(kShape, state.range(0), 301);
  for (auto _ : state) {
    benchmark::DoNotOptimize(footprint::ComputeLowerBound(requests));
  }
}

template <footprint::NetworkShape kShape>
void BM_ValidateTraining(benchmark::State& state) {
  const auto requests =
      footprint::TrainingRequests(kShape, state.range(0), 301);
  footprint::PlanOptions options;
  options.method = footprint::PlanMethod::kNaive;
  const auto plan = footprint::PlanMemory(requests, options);
  for (auto _ : state) {
    if (!plan.ok() || !footprint::ValidatePlan(requests, *plan).ok()) {
      state.SkipWithError("no valid plan");
      return;
    }
  }
}

using footprint::CutStyle;
using footprint::NetworkShape;
using footprint::PlanMethod;

// 300 tensors are a typical network, 10,000 an unrolled one. A perfect packing
// of 500 takes up to a second.
BENCHMARK(BM_BoundTraining<NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_ValidateTraining<NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kNaive, NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kFirstFit, NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kGreedyBySize, NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kPortfolio, NetworkShape::kChain>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kPortfolio, NetworkShape::kResidual>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanTraining<PlanMethod::kPortfolio, NetworkShape::kUNet>)
    ->ArgName("tensors")
    ->Arg(300)
    ->Arg(10000);
BENCHMARK(BM_PlanPerfectPacking<PlanMethod::kHillClimb, CutStyle::kPinwheel>)
    ->ArgName("tensors")
    ->Arg(50);
BENCHMARK(BM_PlanPerfectPacking<PlanMethod::kExact, CutStyle::kGuillotine>)
    ->ArgName("tensors")
    ->Arg(50)
    ->Arg(200)
    ->Arg(500);
BENCHMARK(BM_PlanPerfectPacking<PlanMethod::kExact, CutStyle::kPinwheel>)
    ->ArgName("tensors")
    ->Arg(50)
    ->Arg(200)
    ->Arg(500);

}  // namespace

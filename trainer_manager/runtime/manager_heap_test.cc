// Counts the bytes that a training takes from the heap, allocation by
// allocation.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/types/optional.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The bytes that a training may take beyond its bound, unless 2 % of the bound
// is more.
constexpr int64_t kSlackBytes = 4 * 1024;

struct Counted {
  int64_t bound_bytes = 0;
  // The most bytes of heap and own mappings together, by phase.
  int64_t planning_bytes = 0;
  int64_t creating_bytes = 0;
  int64_t training_bytes = 0;
  int64_t steady_allocations = 0;
};

// Returns the most bytes of heap and mappings since `begin` while `work` ran.
// Nothing is unmapped before the end, so the peak of the mappings is what they
// hold.
template <typename Work>
int64_t MeasurePeak(const HeapPhase& begin, Work work) {
  const int64_t before_bytes = ReadHeapPhase(begin).net_growth_bytes;
  const HeapPhase phase = BeginHeapPhase();
  work();
  return before_bytes + EndHeapPhase(phase).peak_live_net_bytes +
         ReadHeapPhase(begin).peak_mapped_net_bytes;
}

int64_t SteadyAllocations(Manager* manager) {
  const HeapPhase steady = BeginHeapPhase();
  bool trained = true;
  for (int i = 0; i < 2; ++i) trained &= manager->TrainStep().ok();
  const HeapPhaseBytes bytes = EndHeapPhase(steady);
  EXPECT_TRUE(trained);
  EXPECT_EQ(bytes.peak_mapped_net_bytes, 0);
  return bytes.allocation_count;
}

// Leaves inputs and labels at zero, since the counts do not depend on them.
void LeaveZeros(Manager* manager) {
  EXPECT_TRUE(manager->InputValues(0).ok() ||
              manager->InputValues<int32_t>(0).ok());
  EXPECT_TRUE(manager->LabelValues().ok() ||
              manager->LabelValues<int32_t>().ok());
}

Counted CountTraining(const Network& network, const OptimizerPointer& optimizer,
                      const MemoryOptions& memory) {
  Counted counted;
  const HeapPhase begin = BeginHeapPhase();
  absl::optional<ExecutionPlan> plan;
  counted.planning_bytes = MeasurePeak(begin, [&] {
    auto planned = PlanExecution(network, NetworkMode::kTraining, memory,
                                 optimizer->states_per_weight());
    EXPECT_THAT(planned, IsOk());
    plan = *std::move(planned);
  });
  counted.bound_bytes = plan->bound_bytes();
  std::unique_ptr<Manager> manager;
  counted.creating_bytes = MeasurePeak(begin, [&] {
    ManagerOptions options;
    options.optimizer = optimizer;
    options.swap_folder = ::testing::TempDir();
    const auto parameters = Parameters::Create(*plan, 1);
    EXPECT_THAT(parameters, IsOk());
    auto created = Manager::Create(*plan, *parameters, options);
    EXPECT_THAT(created, IsOk());
    manager = std::move(*created);
  });
  plan.reset();
  LeaveZeros(manager.get());
  counted.training_bytes =
      MeasurePeak(begin, [&] { EXPECT_THAT(manager->TrainStep(), IsOk()); });
  counted.steady_allocations = SteadyAllocations(manager.get());
  EndHeapPhase(begin);
  return counted;
}

Network Empty() {
  Network network;
  network.AddInput("value", {{1, 1}});
  network.AddLayer("loss", MeanSquaredError(), {"value"});
  return network;
}

TEST(ManagerHeapTest, IsAccounted) { ASSERT_TRUE(HeapIsAccounted()); }

TEST(ManagerHeapTest, SteadyStepsAllocateNothing) {
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(0.01f), Momentum(0.01f), Adam(0.01f)}) {
    for (const MemoryOptions& memory :
         {MemoryOptions(), MemoryOptions::Debug()}) {
      EXPECT_EQ(
          CountTraining(TabularMlp(8), optimizer, memory).steady_allocations,
          0);
      EXPECT_EQ(CountTraining(LeNet5(2), optimizer, memory).steady_allocations,
                0);
    }
  }
  EXPECT_EQ(
      CountTraining(SmallTransformer(1), Adam(0.01f), {}).steady_allocations,
      0);
}

// Returns the bytes that a training of any size takes beyond its tensors: the
// growth for a network that is only a loss, less its bound.
int64_t ConstantBytes() {
  const Counted counted =
      CountTraining(Empty(), StochasticGradientDescent(0.01f), {});
  return counted.training_bytes - counted.bound_bytes;
}

TEST(ManagerHeapTest, ThePeakIsTheBoundAndLittleElse) {
  struct Case {
    std::string name;
    Network network;
    int64_t budget_bytes = std::numeric_limits<int64_t>::max();
    // Pages of the file do not count as the program's.
    bool swap_to_file = false;
  };
  const int64_t constant_bytes = ConstantBytes();
  std::cout << "constant " << constant_bytes << "\n";
  for (const Case& c :
       {Case{"MLP 13-50-50-1", TabularMlp(32)},
        Case{"MLP 784-512-512-10", DigitMlp(32)}, Case{"LeNet-5", LeNet5(32)},
        Case{"VGG16", Vgg16(8)}, Case{"VGG16", Vgg16(8), 71000000},
        Case{"ResNet-18", ResNet18(8)},
        Case{"ResNet-18", ResNet18(8), 62000000},
        Case{"transformer", SmallTransformer(32)},
        Case{"ResNet-18, swapped", ResNet18(8), 56000000, true},
        Case{"transformer", SmallTransformer(32), 26000000},
        Case{"transformer, swapped", SmallTransformer(32), 13000000, true}}) {
    MemoryOptions memory;
    memory.budget_bytes = c.budget_bytes;
    memory.swap_to_file = c.swap_to_file;
    const Counted counted =
        CountTraining(c.network, StochasticGradientDescent(0.01f), memory);
    const int64_t beyond = counted.training_bytes - counted.bound_bytes;
    std::cout << c.name << ": bound " << counted.bound_bytes << ", planning "
              << counted.planning_bytes << ", creating "
              << counted.creating_bytes << ", training "
              << counted.training_bytes << ", beyond it " << beyond << "\n";
    EXPECT_GE(beyond, 0);
    EXPECT_LE(beyond,
              std::max(counted.bound_bytes / 50, kSlackBytes) + constant_bytes)
        << c.name;
    EXPECT_EQ(counted.steady_allocations, 0) << c.name;
    EXPECT_LE(counted.creating_bytes,
              std::max(counted.training_bytes, counted.planning_bytes));
  }
}

}  // namespace
}  // namespace footprint

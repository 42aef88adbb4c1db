// What a training takes from the heap, counted allocation by allocation.

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "footprint/profiling/heap_accounting.h"
#include "footprint/trainer_manager/execution_plan.h"
#include "footprint/trainer_manager/manager.h"
#include "footprint/trainer_manager/reference_networks.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

struct Counted {
  int64_t bound_bytes = 0;
  int64_t peak_bytes = 0;  // of heap and own mappings, from planning on
  int64_t steady_allocations = 0;
};

// Inputs and labels stay zeros: what is counted does not depend on them.
Counted CountTraining(const Network& network, const OptimizerPointer& optimizer,
                      const MemoryOptions& memory) {
  Counted counted;
  const HeapRegion region = BeginHeapRegion();
  {
    std::unique_ptr<Manager> manager;
    {
      const auto plan = PlanExecution(network, NetworkMode::kTraining, memory,
                                      optimizer->states_per_weight());
      EXPECT_TRUE(plan.ok()) << plan.status();
      counted.bound_bytes = plan->bound_bytes();
      ManagerOptions options;
      options.optimizer = optimizer;
      const auto parameters = Parameters::Create(*plan, 1);
      EXPECT_TRUE(parameters.ok()) << parameters.status();
      auto created = Manager::Create(*plan, *parameters, options);
      EXPECT_TRUE(created.ok()) << created.status();
      manager = std::move(*created);
    }
    EXPECT_TRUE(manager->TrainStep().ok());
    const HeapRegion steady = BeginHeapRegion();
    bool trained = true;
    for (int i = 0; i < 3; ++i) trained &= manager->TrainStep().ok();
    const HeapRegionBytes bytes = EndHeapRegion(steady);
    EXPECT_TRUE(trained);
    counted.steady_allocations = bytes.allocation_count;
    EXPECT_EQ(bytes.peak_mapped_bytes, 0);
  }
  const HeapRegionBytes bytes = EndHeapRegion(region);
  counted.peak_bytes = bytes.peak_live_bytes + bytes.peak_mapped_bytes;
  return counted;
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

TEST(ManagerHeapTest, ThePeakIsTheBoundAndLittleElse) {
  struct Case {
    std::string name;
    Network network;
  };
  for (const Case& c :
       {Case{"MLP 13-50-50-1", TabularMlp(32)},
        Case{"MLP 784-512-512-10", DigitMlp(32)}, Case{"LeNet-5", LeNet5(32)},
        Case{"transformer", SmallTransformer(2)}}) {
    const Counted counted =
        CountTraining(c.network, StochasticGradientDescent(0.01f), {});
    const int64_t beyond = counted.peak_bytes - counted.bound_bytes;
    std::cout << c.name << ": bound " << counted.bound_bytes << ", peak "
              << counted.peak_bytes << ", beyond it " << beyond << "\n";
    EXPECT_GE(beyond, 0);
    EXPECT_LE(beyond, counted.bound_bytes / 50 + 64 * 1024) << c.name;
  }
}

}  // namespace
}  // namespace footprint

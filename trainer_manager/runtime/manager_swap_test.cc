// Tests training with a swap file: reserved space, a full disk, damage.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/files/anonymous_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

// Returns the plan of a network within a budget that needs the file.
ExecutionPlan SwappingPlan(bool atomic = false) {
  MemoryOptions memory;
  memory.atomic_steps = atomic;
  memory.swap_to_file = true;
  memory.budget_bytes = 0;
  const Network network = ResidualImageClassifier();
  const auto refused = PlanExecution(network, NetworkMode::kTraining, memory);
  memory.budget_bytes = LeastBudgetNamed(refused.status());
  const auto plan = PlanExecution(network, NetworkMode::kTraining, memory);
  EXPECT_THAT(plan, IsOk());
  EXPECT_GT(plan->swap_file_bytes, 0);
  return *plan;
}

absl::StatusOr<std::unique_ptr<Manager>> SwappingManager(
    const ExecutionPlan& plan, const std::string& folder,
    std::shared_ptr<Parameters> parameters) {
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.05f);
  options.swap_folder = folder;
  auto manager = Manager::Create(plan, std::move(parameters), options);
  if (!manager.ok()) return manager;
  const size_t values = static_cast<size_t>(
      plan.tensors[plan.input_tensors[0]].spec.shape.elements());
  SetZeros(plan, manager->get());
  EXPECT_THAT((*manager)->SetInput(0, RandomValues(values, 2)), IsOk());
  return manager;
}

TEST(ManagerSwapTest, SwappingNeedsAFolderWithRoom) {
  const ExecutionPlan plan = SwappingPlan();
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(plan, 1);
  EXPECT_THAT(
      std::string(SwappingManager(plan, "", parameters).status().message()),
      HasSubstr("set ManagerOptions::swap_folder"));
  EXPECT_THAT(SwappingManager(plan, "/nowhere", parameters),
              StatusIs(absl::StatusCode::kNotFound));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(plan.swap_file_bytes) - 1;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status full =
      SwappingManager(plan, ::testing::TempDir(), parameters).status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(full, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(full.message()), HasSubstr("make room"));
}

// Replaces the file by a device. Writing to it fails as on a full disk, or
// reading returns other bytes.
void PutInPlaceOfFile(const char* device, int file) {
  const int opened = open(device, O_RDWR);
  ASSERT_GE(opened, 0);
  ASSERT_EQ(dup2(opened, file), file);
  close(opened);
}

TEST(ManagerSwapTest, ADiskThatIsFullLeavesTheModelAsItWas) {
  const ExecutionPlan plan = SwappingPlan();
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(plan, 1);
  auto manager = SwappingManager(plan, ::testing::TempDir(), parameters);
  ASSERT_THAT(manager, IsOk());
  ASSERT_THAT((*manager)->TrainStep(), IsOk());
  const std::vector<float> before = AllParameters(*parameters);
  const int file = AnonymousFile();
  const int kept = dup(file);
  PutInPlaceOfFile("/dev/full", file);
  const auto loss = (*manager)->TrainStep();
  EXPECT_THAT(loss, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(loss.status().message()),
              HasSubstr("swap out: the swap file: cannot be written"));
  EXPECT_EQ(AllParameters(*parameters), before);
  ASSERT_EQ(dup2(kept, file), file);
  close(kept);
  EXPECT_THAT((*manager)->TrainStep(), IsOk());
  EXPECT_NE(AllParameters(*parameters), before);
}

// Outputs are read back before the first weight changes.
TEST(ManagerSwapTest, ADamagedSwapFileLeavesTheModelOfAtomicSteps) {
  const ExecutionPlan plan = SwappingPlan(/*atomic=*/true);
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(plan, 1);
  auto manager = SwappingManager(plan, ::testing::TempDir(), parameters);
  ASSERT_THAT(manager, IsOk());
  ASSERT_THAT((*manager)->TrainStep(), IsOk());
  const std::vector<float> before = AllParameters(*parameters);
  PutInPlaceOfFile("/dev/zero", AnonymousFile());
  EXPECT_THAT((*manager)->TrainStep(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(AllParameters(*parameters), before);
}

TEST(ManagerSwapTest, ADamagedSwapFileIsNoticed) {
  const ExecutionPlan plan = SwappingPlan();
  auto manager =
      SwappingManager(plan, ::testing::TempDir(), *Parameters::Create(plan, 1));
  ASSERT_THAT(manager, IsOk());
  PutInPlaceOfFile("/dev/zero", AnonymousFile());
  const auto loss = (*manager)->TrainStep();
  EXPECT_THAT(loss, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(loss.status().message()),
              HasSubstr("swap in: the swap file is damaged"));
}

}  // namespace
}  // namespace footprint

#include "footprint/trainer_manager/runtime/tensor_inspection.h"

#include <memory>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/step_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

class LocateTensorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto plan = PlanExecution(TabularMlp(2), NetworkMode::kTraining,
                              MemoryOptions::Debug());
    ASSERT_THAT(plan, IsOk());
    plan_ = *std::move(plan);
    auto parameters = Parameters::Create(plan_, 1);
    ASSERT_THAT(parameters, IsOk());
    parameters_ = *parameters;
    fixed_.resize(static_cast<size_t>(plan_.fixed_bytes));
    arena_.resize(static_cast<size_t>(plan_.arena_bytes));
    memory_ = {fixed_.data(), arena_.data(), parameters_.get()};
  }

  ExecutionPlan plan_;
  std::shared_ptr<Parameters> parameters_;
  std::vector<char> fixed_;
  std::vector<char> arena_;
  PlanMemory memory_;
};

TEST_F(LocateTensorTest, FindsEveryTensorThatIsKept) {
  size_t in_arena = 0;
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan_.tensors[t];
    const auto bytes =
        LocateTensor(plan_, tensor.name, tensor.spec.type, memory_);
    ASSERT_THAT(bytes, IsOk()) << tensor.name;
    EXPECT_EQ(bytes->size(), static_cast<size_t>(tensor.size_bytes));
    const StorageClass where = plan_.StorageOfTensor(t).storage_class;
    if (where == StorageClass::kModel) {
      EXPECT_EQ(bytes->data(), reinterpret_cast<const char*>(
                                   *LocateParameter(tensor, *parameters_)));
      continue;
    }
    const bool fixed = where == StorageClass::kFixed;
    EXPECT_EQ(bytes->data(),
              (fixed ? fixed_ : arena_).data() + plan_.OffsetOfTensor(t));
    in_arena += !fixed;
  }
  EXPECT_GT(in_arena, 5u);
}

// A step by tiles leaves the last of them, which is not the matrix.
TEST(LocateTensorOfTilesTest, AMatrixThatIsReadByTilesIsNotThere) {
  Network network;
  network.AddInput("rows", {{2, 4}});
  network.AddLayer("wide", FullyConnected(50), {"rows"});
  network.AddLayer("head", FullyConnected(1), {"wide"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("wide.*");
  MemoryOptions options = MemoryOptions::Debug();
  options.read_frozen_weights = true;
  for (const bool by_tiles : {false, true}) {
    if (by_tiles) options.budget_bytes = 2200;
    const auto plan = PlanExecution(network, NetworkMode::kTraining, options, 0,
                                    ReferenceMath());
    ASSERT_THAT(plan, IsOk());
    const auto parameters = Parameters::Create(*plan, 1);
    ASSERT_THAT(parameters, IsOk());
    std::vector<char> memory(static_cast<size_t>(plan->planned_bytes()));
    const auto matrix =
        LocateTensor(*plan, "wide.weight", DType::kF32,
                     {memory.data(), memory.data(), parameters->get()});
    if (by_tiles) {
      EXPECT_THAT(matrix, StatusIs(absl::StatusCode::kFailedPrecondition,
                                   testing::HasSubstr("by tiles")));
    } else {
      EXPECT_THAT(matrix, IsOk());
    }
    EXPECT_THAT(LocateTensor(*plan, "wide.bias", DType::kF32,
                             {memory.data(), memory.data(), parameters->get()}),
                IsOk());
  }
}

TEST_F(LocateTensorTest, SaysWhyATensorCannotBeRead) {
  EXPECT_THAT(LocateTensor(plan_, "none", DType::kF32, memory_),
              StatusIs(absl::StatusCode::kNotFound));
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan_.tensors[t];
    EXPECT_THAT(LocateTensor(
                    plan_, tensor.name,
                    tensor.spec.type == DType::kI32 ? DType::kF32 : DType::kI32,
                    memory_),
                StatusIs(absl::StatusCode::kFailedPrecondition));
    memory_.arena = nullptr;
    EXPECT_EQ(LocateTensor(plan_, tensor.name, tensor.spec.type, memory_).ok(),
              plan_.StorageOfTensor(t).storage_class != StorageClass::kArena)
        << tensor.name;
    memory_.arena = arena_.data();
  }
}

TEST_F(LocateTensorTest, RefusesWhatIsNotKept) {
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    PlannedTensor& tensor = plan_.tensors[t];
    if (plan_.StorageOfTensor(t).storage_class != StorageClass::kArena) {
      continue;
    }
    tensor.is_retained = false;
    const absl::Status status =
        LocateTensor(plan_, tensor.name, tensor.spec.type, memory_).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition))
        << tensor.name;
  }
}

}  // namespace
}  // namespace footprint

// Bad calls from outside: each has a status and a text, nothing is thrown, and
// the handles stay as they were.

#include "footprint/trainer_manager/c/footprint_trainer.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kSettings[] = "optimizer=momentum, learning_rate=0.1";

footprint_network* MakeNetwork() {
  footprint_network* network = nullptr;
  const int64_t extents[] = {4, 2};
  EXPECT_EQ(footprint_network_create(&network), FOOTPRINT_OK);
  EXPECT_EQ(
      footprint_network_add_input(network, "rows", FOOTPRINT_FLOAT, extents, 2),
      FOOTPRINT_OK);
  EXPECT_EQ(footprint_network_add_layer(network, "fully_connected", "hidden",
                                        "rows", "unit=8"),
            FOOTPRINT_OK);
  EXPECT_EQ(footprint_network_add_layer(network, "activation", "relu", "hidden",
                                        "activation=relu"),
            FOOTPRINT_OK);
  EXPECT_EQ(footprint_network_add_layer(network, "fully_connected", "sum",
                                        "relu", "unit=1"),
            FOOTPRINT_OK);
  EXPECT_EQ(footprint_network_add_layer(network, "mse", "loss", "sum", nullptr),
            FOOTPRINT_OK);
  return network;
}

class FootprintTrainerTest : public testing::Test {
 protected:
  FootprintTrainerTest() : network_(MakeNetwork()) {
    EXPECT_EQ(footprint_trainer_plan(network_, kSettings, &trainer_),
              FOOTPRINT_OK)
        << footprint_error();
    EXPECT_EQ(footprint_trainer_create(trainer_), FOOTPRINT_OK)
        << footprint_error();
  }
  ~FootprintTrainerTest() override {
    footprint_trainer_free(trainer_);
    footprint_network_free(network_);
  }

  void SetBatch() {
    ASSERT_EQ(footprint_trainer_set_floats(trainer_, 0, kRows, 8),
              FOOTPRINT_OK);
    ASSERT_EQ(footprint_trainer_set_floats(trainer_, FOOTPRINT_LABEL, kSums, 4),
              FOOTPRINT_OK);
  }

  static constexpr float kRows[] = {0, 0, 0, 1, 1, 0, 1, 1};
  static constexpr float kSums[] = {0, 1, 1, 2};
  footprint_network* network_ = nullptr;
  footprint_trainer* trainer_ = nullptr;
};

TEST_F(FootprintTrainerTest, LearnsToAdd) {
  SetBatch();
  float loss = 1;
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(footprint_trainer_step(trainer_, &loss), FOOTPRINT_OK);
  }
  EXPECT_LT(loss, 1e-3f);
  ASSERT_EQ(footprint_trainer_infer(trainer_), FOOTPRINT_OK);
  const float* outputs = nullptr;
  size_t count = 0;
  ASSERT_EQ(footprint_trainer_output(trainer_, 0, &outputs, &count),
            FOOTPRINT_OK);
  ASSERT_EQ(count, 4u);
  for (size_t i = 0; i < count; ++i) EXPECT_NEAR(outputs[i], kSums[i], 0.1);
  EXPECT_EQ(footprint_trainer_step(trainer_, nullptr), FOOTPRINT_OK);
}

TEST_F(FootprintTrainerTest, ReportsThePlan) {
  footprint_report report;
  ASSERT_EQ(footprint_trainer_report(trainer_, &report, sizeof(report)),
            FOOTPRINT_OK);
  // 2 x 8 + 8 + 8 x 1 + 1 floats.
  EXPECT_EQ(report.model_bytes, 4 * 33);
  EXPECT_GE(report.planned_bytes, report.bound_bytes);
  EXPECT_GT(report.bound_bytes, report.model_bytes);
  EXPECT_GT(report.arena_bytes, 0);
  EXPECT_GT(report.steps, 8);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_THAT(report.largest_step, HasSubstr(": "));
  SetBatch();
  ASSERT_EQ(footprint_trainer_step(trainer_, nullptr), FOOTPRINT_OK);
  // A program of an older version knows fewer fields.
  int64_t two[3] = {0, 0, 77};
  ASSERT_EQ(footprint_trainer_report(
                trainer_, reinterpret_cast<footprint_report*>(two), 16),
            FOOTPRINT_OK);
  EXPECT_EQ(two[0], report.planned_bytes);
  EXPECT_EQ(two[1], report.bound_bytes);
  EXPECT_EQ(two[2], 77);
  EXPECT_EQ(footprint_trainer_report(trainer_, &report, 1 << 20),
            FOOTPRINT_INVALID_ARGUMENT);
}

// Calls every function that takes a trainer.
std::vector<footprint_status> CallAll(footprint_trainer* trainer) {
  const float value = 0;
  const int32_t number = 0;
  const float* values = nullptr;
  size_t count = 0;
  float loss = 0;
  footprint_report report;
  return {footprint_trainer_create(trainer),
          footprint_trainer_set_floats(trainer, 0, &value, 1),
          footprint_trainer_set_ints(trainer, 0, &number, 1),
          footprint_trainer_step(trainer, &loss),
          footprint_trainer_infer(trainer),
          footprint_trainer_output(trainer, 0, &values, &count),
          footprint_trainer_weight(trainer, "sum.bias", &values, &count),
          footprint_trainer_save(trainer, "/tmp/x", FOOTPRINT_WEIGHTS),
          footprint_trainer_load(trainer, "/tmp/x"),
          footprint_trainer_report(trainer, &report, sizeof(report))};
}

TEST_F(FootprintTrainerTest, RefusesHandlesThatDoNotLive) {
  footprint_trainer* freed = nullptr;
  ASSERT_EQ(footprint_trainer_plan(network_, kSettings, &freed), FOOTPRINT_OK);
  footprint_trainer_free(freed);
  footprint_trainer_free(freed);
  footprint_trainer_free(nullptr);
  footprint_network_free(nullptr);
  for (footprint_trainer* const handle :
       {static_cast<footprint_trainer*>(nullptr), freed,
        reinterpret_cast<footprint_trainer*>(network_)}) {
    for (const footprint_status status : CallAll(handle)) {
      EXPECT_EQ(status, FOOTPRINT_INVALID_ARGUMENT);
    }
    EXPECT_THAT(footprint_error(), HasSubstr("is not a trainer"));
  }
  footprint_network* network = nullptr;
  ASSERT_EQ(footprint_network_create(&network), FOOTPRINT_OK);
  footprint_network_free(network);
  footprint_network_free(network);
  const int64_t extent = 1;
  for (footprint_network* const handle :
       {static_cast<footprint_network*>(nullptr), network,
        reinterpret_cast<footprint_network*>(trainer_)}) {
    EXPECT_EQ(
        footprint_network_add_input(handle, "x", FOOTPRINT_FLOAT, &extent, 1),
        FOOTPRINT_INVALID_ARGUMENT);
    EXPECT_EQ(footprint_network_add_layer(handle, "flatten", "x", "y", ""),
              FOOTPRINT_INVALID_ARGUMENT);
    EXPECT_EQ(footprint_network_freeze(handle, "*"),
              FOOTPRINT_INVALID_ARGUMENT);
    footprint_trainer* planned = trainer_;
    EXPECT_EQ(footprint_trainer_plan(handle, kSettings, &planned),
              FOOTPRINT_INVALID_ARGUMENT);
    EXPECT_THAT(footprint_error(), HasSubstr("is not a network"));
    EXPECT_EQ(planned, nullptr);
  }
}

TEST_F(FootprintTrainerTest, RefusesNullPointers) {
  const int64_t extent = 1;
  const float* values = nullptr;
  size_t count = 0;
  const std::vector<footprint_status> statuses = {
      footprint_network_create(nullptr),
      footprint_network_add_input(network_, nullptr, FOOTPRINT_FLOAT, &extent,
                                  1),
      footprint_network_add_input(network_, "x", FOOTPRINT_FLOAT, nullptr, 1),
      footprint_network_add_layer(network_, nullptr, "x", "rows", ""),
      footprint_network_add_layer(network_, "flatten", nullptr, "rows", ""),
      footprint_network_add_layer(network_, "flatten", "x", nullptr, ""),
      footprint_network_freeze(network_, nullptr),
      footprint_trainer_plan(network_, kSettings, nullptr),
      footprint_trainer_set_floats(trainer_, 0, nullptr, 8),
      footprint_trainer_set_ints(trainer_, 0, nullptr, 8),
      footprint_trainer_weight(trainer_, nullptr, &values, &count),
      footprint_trainer_weight(trainer_, "sum.bias", nullptr, &count),
      footprint_trainer_weight(trainer_, "sum.bias", &values, nullptr),
      footprint_trainer_save(trainer_, nullptr, FOOTPRINT_WEIGHTS),
      footprint_trainer_load(trainer_, nullptr),
      footprint_trainer_report(trainer_, nullptr, sizeof(footprint_report))};
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i], FOOTPRINT_INVALID_ARGUMENT) << i;
  }
  footprint_trainer* trainer = trainer_;
  EXPECT_EQ(footprint_trainer_plan(network_, nullptr, &trainer),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(trainer, nullptr);
  EXPECT_THAT(footprint_error(), HasSubstr("settings is null"));
}

TEST_F(FootprintTrainerTest, ABadLayerOrInputIsNotAdded) {
  const int64_t extents[] = {4, 2};
  const int64_t bad[] = {4, -2};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t huge[] = {kMost, kMost};
  EXPECT_EQ(
      footprint_network_add_layer(network_, "no such layer", "x", "rows", ""),
      FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_THAT(footprint_error(),
              HasSubstr("layer \"x\": no layer has the type"));
  EXPECT_EQ(footprint_network_add_layer(network_, "fully_connected", "x",
                                        "rows", "unit=many"),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(footprint_network_add_input(
                network_, "x", static_cast<footprint_type>(7), extents, 2),
            FOOTPRINT_INVALID_ARGUMENT);
  for (const size_t rank : {size_t{0}, size_t{5}, static_cast<size_t>(-1)}) {
    EXPECT_EQ(footprint_network_add_input(network_, "x", FOOTPRINT_FLOAT,
                                          extents, rank),
              FOOTPRINT_INVALID_ARGUMENT);
  }
  EXPECT_EQ(footprint_network_add_input(network_, "x", FOOTPRINT_FLOAT, bad, 2),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(
      footprint_network_add_input(network_, "x", FOOTPRINT_FLOAT, huge, 2),
      FOOTPRINT_OUT_OF_RANGE);
  footprint_trainer* trainer = nullptr;
  EXPECT_EQ(footprint_trainer_plan(network_, kSettings, &trainer),
            FOOTPRINT_OK);
  footprint_trainer_free(trainer);
}

TEST_F(FootprintTrainerTest, AnErrorOfPlanningNamesTheLayer) {
  footprint_trainer* trainer = trainer_;
  const auto plan_with = [&](const char* type, const char* name,
                             const char* inputs, const char* properties,
                             const char* settings) {
    footprint_network* const network = MakeNetwork();
    EXPECT_EQ(
        footprint_network_add_layer(network, type, name, inputs, properties),
        FOOTPRINT_OK);
    const footprint_status status =
        footprint_trainer_plan(network, settings, &trainer);
    EXPECT_EQ(trainer, nullptr);
    footprint_network_free(network);
    return status;
  };
  EXPECT_EQ(
      plan_with("fully_connected", "more", "nothing", "unit=1", kSettings),
      FOOTPRINT_NOT_FOUND);
  EXPECT_THAT(footprint_error(), HasSubstr("\"more\""));
  EXPECT_EQ(plan_with("fully_connected", "relu", "rows", "unit=1", kSettings),
            FOOTPRINT_ALREADY_EXISTS);
  EXPECT_EQ(plan_with("fully_connected", "more", "more", "unit=1", kSettings),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(plan_with("fully_connected", "more", "rows", "unit=1", kSettings),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_THAT(footprint_error(), HasSubstr("leads to no loss"));
  EXPECT_EQ(plan_with("fully_connected", "more", "rows",
                      "unit=9223372036854775807", "mode=inference"),
            FOOTPRINT_OUT_OF_RANGE);
  EXPECT_EQ(plan_with("conv2d", "more", "rows", "filters=1, kernel_size=1",
                      "mode=inference"),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(plan_with("flatten", "", "rows", "", "mode=inference"),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(plan_with("flatten", "\xff", "rows", "", "mode=inference"),
            FOOTPRINT_INVALID_ARGUMENT);
  EXPECT_EQ(
      footprint_trainer_plan(
          network_, "optimizer=sgd, learning_rate=1, budget=100", &trainer),
      FOOTPRINT_RESOURCE_EXHAUSTED);
  EXPECT_THAT(footprint_error(), AllOf(HasSubstr("the minimum found is"),
                                       HasSubstr("the setting micro_batches"),
                                       HasSubstr("the setting swap_folder"),
                                       Not(HasSubstr("Options::"))));
}

// More than any machine has, but each size can be counted.
TEST_F(FootprintTrainerTest, MemoryThatIsNotThereIsAStatus) {
  ASSERT_EQ(footprint_network_add_layer(network_, "fully_connected", "huge",
                                        "rows", "unit=1000000000000000"),
            FOOTPRINT_OK);
  footprint_trainer* trainer = nullptr;
  ASSERT_EQ(footprint_trainer_plan(network_, "mode=inference", &trainer),
            FOOTPRINT_OK)
      << footprint_error();
  EXPECT_EQ(footprint_trainer_create(trainer), FOOTPRINT_RESOURCE_EXHAUSTED)
      << footprint_error();
  EXPECT_EQ(footprint_trainer_set_floats(trainer, 0, kRows, 8),
            FOOTPRINT_FAILED_PRECONDITION);
  footprint_trainer_free(trainer);
}

TEST_F(FootprintTrainerTest, GoesOnAfterAnErrorAsIfItHadNotBeen) {
  footprint_trainer* other = nullptr;
  ASSERT_EQ(footprint_trainer_plan(network_, kSettings, &other), FOOTPRINT_OK);
  ASSERT_EQ(footprint_trainer_create(other), FOOTPRINT_OK);
  ASSERT_EQ(footprint_trainer_set_floats(other, 0, kRows, 8), FOOTPRINT_OK);
  ASSERT_EQ(footprint_trainer_set_floats(other, FOOTPRINT_LABEL, kSums, 4),
            FOOTPRINT_OK);
  SetBatch();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float bad[] = {0, nan, 1, 2};
  for (int i = 0; i < 3; ++i) {
    float loss = 0;
    float untouched = 7;
    ASSERT_EQ(footprint_trainer_set_floats(trainer_, FOOTPRINT_LABEL, bad, 4),
              FOOTPRINT_OK);
    EXPECT_EQ(footprint_trainer_step(trainer_, &untouched),
              FOOTPRINT_OUT_OF_RANGE);
    EXPECT_EQ(untouched, 7);
    EXPECT_EQ(footprint_trainer_set_floats(trainer_, FOOTPRINT_LABEL, kSums, 3),
              FOOTPRINT_INVALID_ARGUMENT);
    EXPECT_EQ(footprint_trainer_load(trainer_, "/nowhere"),
              FOOTPRINT_NOT_FOUND);
    EXPECT_EQ(footprint_trainer_save(trainer_, "/nowhere/x", FOOTPRINT_WEIGHTS),
              FOOTPRINT_NOT_FOUND);
    EXPECT_EQ(footprint_trainer_save(trainer_, "/tmp/x",
                                     static_cast<footprint_contents>(5)),
              FOOTPRINT_INVALID_ARGUMENT);
    SetBatch();
    float expected = 0;
    ASSERT_EQ(footprint_trainer_step(trainer_, &loss), FOOTPRINT_OK);
    ASSERT_EQ(footprint_trainer_step(other, &expected), FOOTPRINT_OK);
    EXPECT_EQ(loss, expected);
  }
  footprint_trainer_free(other);
}

TEST_F(FootprintTrainerTest, FreezingLeavesWeightsAsTheyAre) {
  ASSERT_EQ(footprint_network_freeze(network_, "hidden.*"), FOOTPRINT_OK);
  footprint_trainer* frozen = nullptr;
  ASSERT_EQ(footprint_trainer_plan(network_, kSettings, &frozen), FOOTPRINT_OK);
  // The trainer has its own copy of the network.
  footprint_network_free(network_);
  ASSERT_EQ(footprint_trainer_create(frozen), FOOTPRINT_OK);
  const float* weight = nullptr;
  size_t count = 0;
  ASSERT_EQ(footprint_trainer_weight(frozen, "hidden.weight", &weight, &count),
            FOOTPRINT_OK);
  const std::vector<float> before(weight, weight + count);
  ASSERT_EQ(footprint_trainer_set_floats(frozen, 0, kRows, 8), FOOTPRINT_OK);
  ASSERT_EQ(footprint_trainer_set_floats(frozen, FOOTPRINT_LABEL, kSums, 4),
            FOOTPRINT_OK);
  ASSERT_EQ(footprint_trainer_step(frozen, nullptr), FOOTPRINT_OK);
  EXPECT_EQ(std::vector<float>(weight, weight + count), before);
  footprint_trainer_free(frozen);
}

TEST_F(FootprintTrainerTest, ErrorsAreOfTheThread) {
  EXPECT_EQ(footprint_trainer_step(nullptr, nullptr),
            FOOTPRINT_INVALID_ARGUMENT);
  const std::string here = footprint_error();
  std::thread([] {
    EXPECT_STREQ(footprint_error(), "");
    EXPECT_EQ(footprint_network_create(nullptr), FOOTPRINT_INVALID_ARGUMENT);
    EXPECT_STREQ(footprint_error(), "network is null");
  }).join();
  EXPECT_EQ(footprint_error(), here);
}

}  // namespace

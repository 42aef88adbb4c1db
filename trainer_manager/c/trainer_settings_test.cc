#include "footprint/trainer_manager/c/trainer_settings.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string OptimizerOf(const std::string& text) {
  const auto settings = ParseTrainerSettings(text);
  EXPECT_THAT(settings, IsOk()) << text;
  return settings.ok() ? settings->manager.optimizer->Description() : "";
}

TEST(TrainerSettingsTest, MakesEachOptimizerWithItsNumbers) {
  EXPECT_EQ(OptimizerOf("optimizer=sgd, learning_rate=0.5"),
            StochasticGradientDescent(0.5f)->Description());
  EXPECT_EQ(OptimizerOf("optimizer=momentum, learning_rate=0.5, momentum=0.8"),
            Momentum(0.5f, 0.8f)->Description());
  EXPECT_EQ(OptimizerOf("optimizer=adam, learning_rate=0.5"),
            Adam(0.5f)->Description());
  EXPECT_EQ(OptimizerOf("optimizer=adamw, learning_rate=0.5, beta1=0.8, "
                        "beta2=0.9, epsilon=0.01, weight_decay=0.2"),
            AdamW(0.5f, 0.2f, 0.8f, 0.9f, 0.01f)->Description());
}

TEST(TrainerSettingsTest, MakesEachSchedule) {
  const std::string sgd = "optimizer=sgd, learning_rate=0.5, ";
  const auto with = [](const RateSchedule& schedule) {
    return StochasticGradientDescent(schedule)->Description();
  };
  EXPECT_EQ(OptimizerOf(sgd + "schedule=constant"), with(0.5f));
  EXPECT_EQ(OptimizerOf(sgd + "schedule=linear, last_rate=0.1, iterations=100"),
            with(LinearRate(0.5f, 0.1f, 100)));
  EXPECT_EQ(OptimizerOf(sgd + "schedule=cosine, iterations=100, warm_up=10"),
            with(AfterWarmUp(10, CosineRate(0.5f, 0, 100))));
  EXPECT_EQ(OptimizerOf(sgd + "schedule=step, factor=0.1, iterations=30"),
            with(StepRate(0.5f, 0.1f, 30)));
  EXPECT_EQ(OptimizerOf(sgd + "schedule=exponential, factor=0.9"),
            with(ExponentialRate(0.5f, 0.9f)));
}

TEST(TrainerSettingsTest, SetsMemoryAndLimits) {
  const auto settings = ParseTrainerSettings(
      "optimizer=sgd, learning_rate=0.5, budget=24 MB, micro_batches=4, "
      "swap_folder=/tmp/a\\,b, clip_norm=2, clip_value=3, seed=9, "
      "atomic_steps=true, "
      "threads=3");
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->mode, NetworkMode::kTraining);
  EXPECT_EQ(settings->memory.budget_bytes, 24000000);
  EXPECT_EQ(settings->memory.micro_batches, 4);
  EXPECT_TRUE(settings->memory.swap_to_file);
  EXPECT_TRUE(settings->memory.clip_global_norm);
  EXPECT_TRUE(settings->memory.atomic_steps);
  EXPECT_EQ(settings->manager.swap_folder, "/tmp/a,b");
  EXPECT_EQ(settings->manager.clip_norm, 2);
  EXPECT_EQ(settings->manager.clip_value, 3);
  EXPECT_EQ(settings->manager.seed, 9u);
  EXPECT_EQ(settings->threads, 3);
}

TEST(TrainerSettingsTest, FrozenWeightsMayStayInTheirFile) {
  const auto settings = ParseTrainerSettings(
      "mode=inference, weights_file=/base, weights_layout=pytorch");
  ASSERT_THAT(settings, IsOk());
  EXPECT_TRUE(settings->memory.read_frozen_weights);
  EXPECT_EQ(settings->manager.weights_file, "/base");
  EXPECT_TRUE(settings->is_pytorch_file);
  EXPECT_FALSE(ParseTrainerSettings("mode=inference, weights_file=/base")
                   ->is_pytorch_file);
  EXPECT_FALSE(
      ParseTrainerSettings("mode=inference")->memory.read_frozen_weights);
  EXPECT_THAT(
      ParseTrainerSettings("mode=inference, weights_layout=pytorch").status(),
      StatusIs(kInvalid, HasSubstr("\"weights_layout\"")));
  EXPECT_THAT(ParseTrainerSettings("mode=inference, weights_file=/base, "
                                   "weights_layout=tensorflow")
                  .status(),
              StatusIs(kInvalid, HasSubstr("footprint or pytorch")));
}

TEST(TrainerSettingsTest, AnInferenceHasNoOptimizer) {
  const auto settings = ParseTrainerSettings("mode=inference");
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->mode, NetworkMode::kInference);
  EXPECT_EQ(settings->manager.optimizer, nullptr);
  const auto within = ParseTrainerSettings("mode=inference, budget=24 MB");
  ASSERT_THAT(within, IsOk());
  EXPECT_EQ(within->memory.budget_bytes, 24'000'000);
  EXPECT_THAT(ParseTrainerSettings("mode=inference, optimizer=sgd").status(),
              StatusIs(kInvalid, HasSubstr("\"optimizer\"")));
}

TEST(TrainerSettingsTest, WithoutLimitsThereAreNone) {
  const auto settings =
      ParseTrainerSettings("optimizer=sgd, learning_rate=0.5");
  ASSERT_THAT(settings, IsOk());
  EXPECT_FALSE(settings->memory.clip_global_norm);
  EXPECT_FALSE(settings->memory.swap_to_file);
  EXPECT_EQ(settings->manager.clip_norm,
            std::numeric_limits<float>::infinity());
}

TEST(TrainerSettingsTest, RefusesWhatDoesNotBelongTogether) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"", "\"learning_rate\" is missing"},
      {"learning_rate=1", "\"optimizer\" is missing"},
      {"optimizer=sgd", "\"learning_rate\" is missing"},
      {"optimizer=lion, learning_rate=1", "sgd, momentum, adam or adamw"},
      {"optimizer=sgd, learning_rate=1, beta1=0.9", "\"beta1\""},
      {"optimizer=adam, learning_rate=1, weight_decay=1", "\"weight_decay\""},
      {"optimizer=sgd, learning_rate=1, iterations=5", "\"iterations\""},
      {"optimizer=sgd, learning_rate=1, schedule=cosine", "\"iterations\""},
      {"optimizer=sgd, learning_rate=1, schedule=slow", "constant, linear"},
      {"optimizer=sgd, learning_rate=1, schedule=step, iterations=3",
       "\"factor\" is missing"},
      {"optimizer=sgd, learning_rate=-1", "rate"},
      {"optimizer=sgd, learning_rate=nan", "rate"},
      {"optimizer=sgd, learning_rate=1, warm_up=0", "warm"},
      {"optimizer=sgd, learning_rate=1, budget=some", "24 MB"},
      {"mode=testing", "training or inference"},
      {"mode=inference, threads=0", "from 1 to 64"},
      {"mode=inference, threads=65", "from 1 to 64"},
      {"mode=inference, threads=two", "\"two\""},
      {"optimizer=sgd, learning_rate=1, rate=1", "no property \"rate\""},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ParseTrainerSettings(c.text).status(),
                StatusIs(kInvalid, HasSubstr(c.error)))
        << c.text;
  }
}

}  // namespace
}  // namespace footprint

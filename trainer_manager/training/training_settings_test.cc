#include "footprint/trainer_manager/training/training_settings.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TrainingNotes Describe(const OptimizerPointer& optimizer, int64_t batch = 8,
                       const ParameterGroup* group = nullptr,
                       float clip_value = 1, bool shuffle = true) {
  Network network;
  network.AddInput("rows", {{batch, 4}});
  network.AddLayer("head", FullyConnected(3), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  if (group != nullptr) network.AddGroup(*group);
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions(),
                    optimizer->states_per_weight());
  EXPECT_THAT(plan, IsOk());
  ManagerOptions manager;
  manager.optimizer = optimizer;
  manager.clip_value = clip_value;
  LoaderOptions loader;
  loader.shuffle = shuffle;
  return DescribeSettings(*plan, manager, loader);
}

// Returns the error for settings that differ from those of AdamW with the rate
// 0.1.
std::string Refusal(const TrainingNotes& here) {
  const absl::Status status = CheckSameSettings(Describe(AdamW(0.1f)), here);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST(TrainingSettingsTest, TheSameAreTheSame) {
  TrainingNotes notes = Describe(AdamW(0.1f));
  notes["loop.rows"] = "7";
  EXPECT_THAT(CheckSameSettings(notes, Describe(AdamW(0.1f))), IsOk());
}

TEST(TrainingSettingsTest, EachDifferenceIsNamed) {
  EXPECT_THAT(
      Refusal(Describe(AdamW(0.2f))),
      HasSubstr("its setting.optimizer is \"AdamW, rate 0.100000001, decay"));
  EXPECT_THAT(Refusal(Describe(AdamW(CosineRate(0.1f, 0, 9)))),
              HasSubstr("this training's \"AdamW, rate along a cosine from "
                        "0.100000001 to 0 in 9 iterations"));
  EXPECT_THAT(Refusal(Describe(AdamW(0.1f, 0.5f))), HasSubstr("weights 0.5"));
  ParameterGroup group;
  group.pattern = "*.bias";
  group.rate_factor = 2;
  EXPECT_THAT(Refusal(Describe(AdamW(0.1f), 8, &group)),
              HasSubstr("its setting.groups is \"\", and this training's "
                        "\"*.bias rate times 2\""));
  group.weight_decay = 0.5f;
  EXPECT_THAT(Refusal(Describe(AdamW(0.1f), 8, &group)),
              HasSubstr("\"*.bias rate times 2, decay of weights 0.5\""));
  const std::string several =
      Refusal(Describe(AdamW(0.1f), 16, nullptr, 2, false));
  EXPECT_THAT(several, HasSubstr("its setting.batch is \"8 rows\", and this "
                                 "training's \"16 rows\""));
  EXPECT_THAT(several, HasSubstr("; its setting.clip_value is"));
  EXPECT_THAT(several, HasSubstr("; its setting.shuffle is"));
}

TEST(TrainingSettingsTest, LayersAreDescribedByTypeAndInputs) {
  const TrainingNotes notes = Describe(AdamW(0.1f));
  EXPECT_EQ(notes.at("setting.layer.head"), "fully connected of rows");
  EXPECT_EQ(notes.at("setting.layer.loss"), "softmax cross entropy of head");
}

TEST(TrainingSettingsTest, ASettingThatIsMissingIsNamed) {
  TrainingNotes notes = Describe(AdamW(0.1f));
  notes.erase("setting.clip_norm");
  EXPECT_THAT(
      std::string(CheckSameSettings(notes, Describe(AdamW(0.1f))).message()),
      HasSubstr("it has no setting.clip_norm"));
}

}  // namespace
}  // namespace footprint

#include "footprint/trainer_manager/c/trainer_settings.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/c/properties.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/math/highway_backend.h"

namespace footprint {
namespace {

absl::Status RefuseValue(absl::string_view key, absl::string_view value,
                         absl::string_view values) {
  return absl::InvalidArgumentError(
      absl::StrCat("settings: the property \"", key, "\" is \"",
                   absl::CHexEscape(value), "\"; ", values, " is needed"));
}

// Takes only the properties that the schedule has, so that others are refused.
absl::StatusOr<RateSchedule> TakeSchedule(Properties* properties) {
  std::string kind = "constant";
  float first = 0;
  properties->Require("learning_rate");
  properties->Take("learning_rate", &first);
  properties->Take("schedule", &kind);
  RateSchedule schedule = first;
  if (kind == "linear" || kind == "cosine") {
    float last = 0;
    int64_t iterations = 0;
    properties->Take("last_rate", &last);
    properties->Require("iterations");
    properties->Take("iterations", &iterations);
    schedule = kind == "linear" ? LinearRate(first, last, iterations)
                                : CosineRate(first, last, iterations);
  } else if (kind == "step") {
    float factor = 1;
    int64_t every = 0;
    properties->Require("factor");
    properties->Take("factor", &factor);
    properties->Require("iterations");
    properties->Take("iterations", &every);
    schedule = StepRate(first, factor, every);
  } else if (kind == "exponential") {
    float factor = 1;
    properties->Require("factor");
    properties->Take("factor", &factor);
    schedule = ExponentialRate(first, factor);
  } else if (kind != "constant") {
    return RefuseValue("schedule", kind,
                       "constant, linear, cosine, step or exponential");
  }
  if (properties->Has("warm_up")) {
    int64_t warm_up = 0;
    properties->Take("warm_up", &warm_up);
    schedule = AfterWarmUp(warm_up, schedule);
  }
  return schedule;
}

absl::StatusOr<OptimizerPointer> TakeOptimizer(Properties* properties) {
  const auto schedule = TakeSchedule(properties);
  if (!schedule.ok()) return schedule.status();
  std::string name;
  properties->Require("optimizer");
  properties->Take("optimizer", &name);
  if (name == "sgd") return StochasticGradientDescent(*schedule);
  if (name == "momentum") {
    float momentum = 0.9f;
    properties->Take("momentum", &momentum);
    return Momentum(*schedule, momentum);
  }
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  if (name == "adam" || name == "adamw") {
    properties->Take("beta1", &beta1);
    properties->Take("beta2", &beta2);
    properties->Take("epsilon", &epsilon);
  }
  if (name == "adam") return Adam(*schedule, beta1, beta2, epsilon);
  if (name == "adamw") {
    float decay = 0.01f;
    properties->Take("weight_decay", &decay);
    return AdamW(*schedule, decay, beta1, beta2, epsilon);
  }
  // Properties::Finish reports a missing name, so any optimizer will do here.
  if (name.empty()) return StochasticGradientDescent(*schedule);
  return RefuseValue("optimizer", name, "sgd, momentum, adam or adamw");
}

absl::Status TakeTraining(Properties* properties, TrainerSettings* settings) {
  const auto optimizer = TakeOptimizer(properties);
  if (!optimizer.ok()) return optimizer.status();
  settings->manager.optimizer = *optimizer;
  properties->Take("micro_batches", &settings->memory.micro_batches);
  properties->Take("atomic_steps", &settings->memory.atomic_steps);
  properties->Take("swap_folder", &settings->manager.swap_folder);
  settings->memory.swap_to_file = !settings->manager.swap_folder.empty();
  settings->memory.clip_global_norm = properties->Has("clip_norm");
  properties->Take("clip_norm", &settings->manager.clip_norm);
  properties->Take("clip_value", &settings->manager.clip_value);
  return absl::OkStatus();
}

absl::Status TakeWeightsFile(Properties* properties,
                             TrainerSettings* settings) {
  properties->Take("weights_file", &settings->manager.weights_file);
  settings->memory.read_frozen_weights =
      !settings->manager.weights_file.empty();
  if (!settings->memory.read_frozen_weights) return absl::OkStatus();
  std::string layout = "footprint";
  properties->Take("weights_layout", &layout);
  settings->is_pytorch_file = layout == "pytorch";
  return settings->is_pytorch_file || layout == "footprint"
             ? absl::OkStatus()
             : RefuseValue("weights_layout", layout, "footprint or pytorch");
}

}  // namespace

absl::StatusOr<TrainerSettings> ParseTrainerSettings(absl::string_view text) {
  absl::StatusOr<Properties> properties = Properties::Parse(text);
  if (!properties.ok()) return properties.status();
  TrainerSettings settings;
  std::string mode = "training";
  properties->Take("mode", &mode);
  int64_t threads = 1;
  properties->Take("threads", &threads);
  int64_t seed = 1;
  properties->Take("seed", &seed);
  settings.manager.seed = static_cast<uint64_t>(seed);
  properties->TakeBytes("budget", &settings.memory.budget_bytes);
  absl::Status status = TakeWeightsFile(&*properties, &settings);
  if (!status.ok()) return status;
  if (mode == "training") {
    status = TakeTraining(&*properties, &settings);
    if (!status.ok()) return status;
  } else if (mode == "inference") {
    settings.mode = NetworkMode::kInference;
  } else {
    return RefuseValue("mode", mode, "training or inference");
  }
  status = properties->Finish("settings");
  if (status.ok() && (threads < 1 || threads > kMostTeamThreads)) {
    status = RefuseValue("threads", absl::StrCat(threads),
                         absl::StrCat("a number from 1 to ", kMostTeamThreads));
  }
  settings.threads = static_cast<int>(threads);
  if (status.ok() && settings.manager.optimizer != nullptr) {
    status = settings.manager.optimizer->CheckParameters();
  }
  if (!status.ok()) return status;
  return settings;
}

}  // namespace footprint

#include "footprint/trainer_manager/c/footprint_trainer.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"
#include "footprint/trainer_manager/c/live_handles.h"
#include "footprint/trainer_manager/c/named_layers.h"
#include "footprint/trainer_manager/c/trainer.h"
#include "footprint/trainer_manager/c/trainer_settings.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/runtime/input_view.h"

struct footprint_network {
  footprint::Network network;
};

struct footprint_trainer {
  std::unique_ptr<footprint::Trainer> trainer;
};

namespace {

using footprint::LiveHandles;

constexpr bool IsCode(footprint_status status, absl::StatusCode code) {
  return static_cast<int>(status) == static_cast<int>(code);
}
static_assert(IsCode(FOOTPRINT_UNKNOWN, absl::StatusCode::kUnknown));
static_assert(IsCode(FOOTPRINT_INVALID_ARGUMENT,
                     absl::StatusCode::kInvalidArgument));
static_assert(IsCode(FOOTPRINT_NOT_FOUND, absl::StatusCode::kNotFound));
static_assert(IsCode(FOOTPRINT_ALREADY_EXISTS,
                     absl::StatusCode::kAlreadyExists));
static_assert(IsCode(FOOTPRINT_PERMISSION_DENIED,
                     absl::StatusCode::kPermissionDenied));
static_assert(IsCode(FOOTPRINT_RESOURCE_EXHAUSTED,
                     absl::StatusCode::kResourceExhausted));
static_assert(IsCode(FOOTPRINT_FAILED_PRECONDITION,
                     absl::StatusCode::kFailedPrecondition));
static_assert(IsCode(FOOTPRINT_OUT_OF_RANGE, absl::StatusCode::kOutOfRange));
static_assert(IsCode(FOOTPRINT_INTERNAL, absl::StatusCode::kInternal));
static_assert(IsCode(FOOTPRINT_UNAVAILABLE, absl::StatusCode::kUnavailable));
static_assert(IsCode(FOOTPRINT_DATA_LOSS, absl::StatusCode::kDataLoss));

// Handles live until they are freed, also while the program ends.
LiveHandles<footprint_network>& Networks() {
  static auto* const handles = new LiveHandles<footprint_network>;
  return *handles;
}

LiveHandles<footprint_trainer>& Trainers() {
  static auto* const handles = new LiveHandles<footprint_trainer>;
  return *handles;
}

// No later version has a larger report.
constexpr size_t kMostReportBytes = 1024;

// This text needs no allocation, which would fail when memory is used up.
constexpr char kNoMemory[] = "out of memory";

struct LastError {
  std::string text;
  const char* fixed = "";  // if not null, it is the text
};

LastError& ThreadError() {
  static thread_local LastError error;
  return error;
}

// Returns the message with the names that this interface has for options.
std::string InOwnNames(absl::string_view message) {
  return absl::StrReplaceAll(
      message,
      {{"MemoryOptions::choose_micro_batches", "the setting micro_batches"},
       {"MemoryOptions::swap_to_file", "the setting swap_folder"},
       {"MemoryOptions::atomic_steps", "the setting atomic_steps"},
       {"ManagerOptions::swap_folder", "the setting swap_folder"},
       {"ManagerOptions::weights_file", "the setting weights_file"},
       // The setting weights_file has this effect.
       {" and set MemoryOptions::read_frozen_weights", ""},
       {"ParameterMap", "the setting weights_layout"},
       {"LoadParameters", "footprint_trainer_load"}});
}

footprint_status KeepError(const absl::Status& status) {
  if (status.ok()) return FOOTPRINT_OK;
  LastError& error = ThreadError();
  error.text = InOwnNames(status.message());
  error.fixed = nullptr;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return static_cast<footprint_status>(status.code());
    default:
      return FOOTPRINT_UNKNOWN;
  }
}

// Runs the body of a call, and turns what it throws into a status.
template <typename Body>
footprint_status Guard(Body body) {
  try {
    return KeepError(body());
  } catch (const std::bad_alloc&) {
    ThreadError().fixed = kNoMemory;
    return FOOTPRINT_RESOURCE_EXHAUSTED;
  } catch (const std::exception&) {
    ThreadError().fixed = "an unexpected exception; please report it";
    return FOOTPRINT_INTERNAL;
  }
}

absl::Status MissingArgument(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is null"));
}

absl::Status DeadHandle(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " is null, was freed, or is not a ", what));
}

// Calls `body` with the C++ object of a handle.
template <typename Body>
footprint_status WithNetwork(const footprint_network* handle, Body body) {
  return Guard([&]() -> absl::Status {
    footprint_network* const network = Networks().Find(handle);
    return network == nullptr ? DeadHandle("network") : body(network->network);
  });
}

template <typename Body>
footprint_status WithTrainer(const footprint_trainer* handle, Body body) {
  return Guard([&]() -> absl::Status {
    footprint_trainer* const trainer = Trainers().Find(handle);
    return trainer == nullptr ? DeadHandle("trainer") : body(*trainer->trainer);
  });
}

std::vector<std::string> SplitNames(const char* names) {
  std::vector<std::string> result;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    result.emplace_back(absl::StripAsciiWhitespace(name));
  }
  return result;
}

absl::Status GiveValues(const absl::StatusOr<absl::Span<const float>>& found,
                        const float** values, size_t* count) {
  if (!found.ok()) return found.status();
  if (values == nullptr) return MissingArgument("values");
  if (count == nullptr) return MissingArgument("count");
  *values = found->data();
  *count = found->size();
  return absl::OkStatus();
}

footprint_status SetValues(footprint_trainer* handle, int slot,
                           const void* values,
                           const footprint::InputView& view) {
  return WithTrainer(handle, [&](footprint::Trainer& trainer) {
    if (values == nullptr) return MissingArgument("values");
    return trainer.Set(slot, view);
  });
}

}  // namespace

footprint_status footprint_network_create(footprint_network** network) {
  return Guard([&]() -> absl::Status {
    if (network == nullptr) return MissingArgument("network");
    *network = nullptr;
    *network = Networks().Add(std::make_unique<footprint_network>());
    return absl::OkStatus();
  });
}

footprint_status footprint_network_add_input(footprint_network* network,
                                             const char* name,
                                             footprint_type type,
                                             const int64_t* extents,
                                             size_t rank) {
  return WithNetwork(network, [&](footprint::Network& added) -> absl::Status {
    if (name == nullptr) return MissingArgument("name");
    if (extents == nullptr) return MissingArgument("extents");
    if (type != FOOTPRINT_FLOAT && type != FOOTPRINT_INT32) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the type ", static_cast<int>(type), " of input \"", name,
          "\"; FOOTPRINT_FLOAT or FOOTPRINT_INT32 is needed"));
    }
    if (rank < 1 || rank > static_cast<size_t>(footprint::kMaxRank)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input \"", name, "\" has ", rank, " extents; from 1 to ",
          footprint::kMaxRank, " are needed"));
    }
    footprint::TensorType spec;
    spec.type = type == FOOTPRINT_FLOAT ? footprint::DType::kF32
                                        : footprint::DType::kI32;
    for (size_t i = 0; i < rank; ++i) spec.shape.Append(extents[i]);
    const auto bytes = footprint::CheckedSizeBytes(spec);
    if (!bytes.ok()) return bytes.status();
    added.AddInput(name, spec);
    return absl::OkStatus();
  });
}

footprint_status footprint_network_add_layer(footprint_network* network,
                                             const char* type, const char* name,
                                             const char* inputs,
                                             const char* properties) {
  return WithNetwork(network, [&](footprint::Network& added) -> absl::Status {
    if (type == nullptr) return MissingArgument("type");
    if (name == nullptr) return MissingArgument("name");
    if (inputs == nullptr) return MissingArgument("inputs");
    auto layer = footprint::MakeNamedLayer(
        type, properties == nullptr ? "" : properties);
    if (!layer.ok()) {
      return absl::Status(
          layer.status().code(),
          absl::StrCat("layer \"", name, "\": ", layer.status().message()));
    }
    added.AddLayer(name, *std::move(layer), SplitNames(inputs));
    return absl::OkStatus();
  });
}

footprint_status footprint_network_freeze(footprint_network* network,
                                          const char* pattern) {
  return WithNetwork(network, [&](footprint::Network& frozen) -> absl::Status {
    if (pattern == nullptr) return MissingArgument("pattern");
    frozen.Freeze(pattern);
    return absl::OkStatus();
  });
}

footprint_status footprint_trainer_plan(const footprint_network* network,
                                        const char* settings,
                                        footprint_trainer** trainer) {
  // The network may be refused before the function below is called.
  if (trainer != nullptr) *trainer = nullptr;
  return WithNetwork(network, [&](footprint::Network& planned) -> absl::Status {
    if (trainer == nullptr) return MissingArgument("trainer");
    if (settings == nullptr) return MissingArgument("settings");
    auto parsed = footprint::ParseTrainerSettings(settings);
    if (!parsed.ok()) return parsed.status();
    auto made = footprint::Trainer::Plan(planned, *std::move(parsed));
    if (!made.ok()) return made.status();
    auto handle = std::make_unique<footprint_trainer>();
    handle->trainer = *std::move(made);
    *trainer = Trainers().Add(std::move(handle));
    return absl::OkStatus();
  });
}

footprint_status footprint_trainer_create(footprint_trainer* trainer) {
  return WithTrainer(
      trainer, [](footprint::Trainer& created) { return created.Create(); });
}

footprint_status footprint_trainer_set_floats(footprint_trainer* trainer,
                                              int slot, const float* values,
                                              size_t count) {
  return SetValues(trainer, slot, values, absl::MakeConstSpan(values, count));
}

footprint_status footprint_trainer_set_ints(footprint_trainer* trainer,
                                            int slot, const int32_t* values,
                                            size_t count) {
  return SetValues(trainer, slot, values, absl::MakeConstSpan(values, count));
}

footprint_status footprint_trainer_step(footprint_trainer* trainer,
                                        float* loss) {
  return WithTrainer(trainer, [&](footprint::Trainer& trained) -> absl::Status {
    const absl::StatusOr<float> result = trained.Step();
    if (!result.ok()) return result.status();
    if (loss != nullptr) *loss = *result;
    return absl::OkStatus();
  });
}

footprint_status footprint_trainer_infer(footprint_trainer* trainer) {
  return WithTrainer(
      trainer, [](footprint::Trainer& inferred) { return inferred.Infer(); });
}

footprint_status footprint_trainer_output(const footprint_trainer* trainer,
                                          size_t index, const float** values,
                                          size_t* count) {
  return WithTrainer(trainer, [&](const footprint::Trainer& read) {
    return GiveValues(read.Output(index), values, count);
  });
}

footprint_status footprint_trainer_weight(const footprint_trainer* trainer,
                                          const char* name,
                                          const float** values, size_t* count) {
  return WithTrainer(trainer, [&](const footprint::Trainer& read) {
    return name == nullptr ? MissingArgument("name")
                           : GiveValues(read.Weight(name), values, count);
  });
}

footprint_status footprint_trainer_save(const footprint_trainer* trainer,
                                        const char* path,
                                        footprint_contents contents) {
  return WithTrainer(trainer, [&](const footprint::Trainer& saved) {
    if (path == nullptr) return MissingArgument("path");
    if (contents == FOOTPRINT_TRAINING) return saved.SaveTraining(path);
    if (contents == FOOTPRINT_WEIGHTS) return saved.SaveWeights(path);
    return absl::InvalidArgumentError(
        absl::StrCat("contents are ", static_cast<int>(contents),
                     "; FOOTPRINT_WEIGHTS or FOOTPRINT_TRAINING is needed"));
  });
}

footprint_status footprint_trainer_load(footprint_trainer* trainer,
                                        const char* path) {
  return WithTrainer(trainer, [&](footprint::Trainer& loaded) {
    return path == nullptr ? MissingArgument("path") : loaded.Load(path);
  });
}

footprint_status footprint_trainer_report(const footprint_trainer* trainer,
                                          footprint_report* report,
                                          size_t size) {
  return WithTrainer(
      trainer, [&](const footprint::Trainer& reported) -> absl::Status {
        if (report == nullptr) return MissingArgument("report");
        if (size > kMostReportBytes) {
          return absl::InvalidArgumentError(
              absl::StrCat("a report of ", size,
                           " bytes; sizeof(footprint_report) is needed"));
        }
        const footprint::ExecutionPlan& plan = reported.plan();
        footprint_report full = {};
        full.planned_bytes = plan.planned_bytes();
        full.bound_bytes = plan.bound_bytes();
        full.model_bytes = plan.model_bytes;
        full.arena_bytes = plan.arena_bytes;
        full.iterations = reported.iteration();
        full.steps = static_cast<int64_t>(plan.steps.size());
        full.largest_step = reported.largest_step().c_str();
        // A newer program's fields that this library does not know are 0.
        std::memset(report, 0, size);
        std::memcpy(report, &full, std::min(size, sizeof(full)));
        return absl::OkStatus();
      });
}

const char* footprint_error(void) {
  const LastError& error = ThreadError();
  return error.fixed != nullptr ? error.fixed : error.text.c_str();
}

void footprint_trainer_free(footprint_trainer* trainer) {
  Trainers().Remove(trainer);
}

void footprint_network_free(footprint_network* network) {
  Networks().Remove(network);
}

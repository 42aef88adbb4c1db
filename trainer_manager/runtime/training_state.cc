#include "footprint/trainer_manager/runtime/training_state.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {
namespace {

constexpr char kVersionKey[] = "footprint.version";
constexpr char kVersion[] = "1";
constexpr char kSeedKey[] = "footprint.seed";
constexpr char kOptimizerKey[] = "footprint.optimizer";
constexpr char kFrozenKey[] = "footprint.frozen_weights";
constexpr char kNotePrefix[] = "note.";
// No training takes as many, and counting on from here cannot overflow.
constexpr int64_t kMostIterations = int64_t{1} << 53;

using Metadata = std::map<std::string, std::string>;

// Returns views of the tensors, which must outlive the views.
std::vector<Parameters::Parameter> MakeViews(
    const std::vector<Manager::TrainedTensor>& tensors) {
  std::vector<Parameters::Parameter> views;
  for (const Manager::TrainedTensor& tensor : tensors) {
    views.push_back({tensor.name, tensor.shape, tensor.values});
  }
  return views;
}

// Returns the text of a key, or "" if the file has none.
std::string FindText(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

absl::Status CheckSame(const SafetensorsFile& file, const std::string& key,
                       const std::string& here, absl::string_view what) {
  const std::string there = FindText(file.index().metadata(), key);
  if (there == here) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file.name(), ": its training has the ", what, " \"", there,
                   "\", and this one \"", here,
                   "\"; create the manager with "
                   "the same"));
}

std::string ToHex(uint64_t fingerprint) {
  return absl::StrCat(absl::Hex(fingerprint, absl::kZeroPad16));
}

absl::StatusOr<int64_t> ReadIteration(const SafetensorsFile& file) {
  const std::string text = FindText(file.index().metadata(), kTrainingFileKey);
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.name(), ": is not a training file, since it has no ",
                     kTrainingFileKey, "; LoadParameters reads weights alone"));
  }
  int64_t iteration = 0;
  if (!absl::SimpleAtoi(text, &iteration) || iteration < 0 ||
      iteration > kMostIterations) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.name(), ": its ", kTrainingFileKey, " is \"", text,
                     "\", which is not a number of steps"));
  }
  return iteration;
}

absl::Status CheckVersion(const SafetensorsFile& file) {
  const std::string there = FindText(file.index().metadata(), kVersionKey);
  if (there == kVersion) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file.name(), ": its ", kVersionKey, " is \"", there,
      "\", and this program reads version ", kVersion,
      " of a training alone; LoadParameters takes the weights out of it"));
}

TrainingNotes ReadNotes(const SafetensorsFile& file) {
  TrainingNotes notes;
  for (const auto& [key, text] : file.index().metadata()) {
    absl::string_view name = key;
    if (absl::ConsumePrefix(&name, kNotePrefix)) {
      notes[std::string(name)] = text;
    }
  }
  return notes;
}

// Fails unless the training in the file may continue in this manager according
// to its metadata.
absl::Status CheckMetadata(const SafetensorsFile& file, const Manager& manager,
                           int64_t iteration, const TrainingNotes& notes,
                           const CheckNotes& check) {
  absl::Status status = CheckVersion(file);
  if (status.ok()) {
    status = CheckSame(file, kOptimizerKey,
                       std::string(manager.optimizer()->name()), "optimizer");
  }
  if (status.ok()) {
    status = CheckSame(file, kSeedKey, absl::StrCat(manager.seed()), "seed");
  }
  if (status.ok()) status = CheckFrozenWeights(file, manager);
  if (!status.ok() || check == nullptr) return status;
  status = check(notes, iteration);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(file.name(), ": ", status.message()));
}

}  // namespace

absl::Status CheckFrozenWeights(const SafetensorsFile& file,
                                const Manager& manager) {
  const std::string there = FindText(file.index().metadata(), kFrozenKey);
  const absl::optional<uint64_t> here = manager.frozen_weights_fingerprint();
  // If one of both holds them in memory, LoadTensors compares the names.
  if (there.empty() || !here || there == ToHex(*here)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file.name(), ": its training read other frozen weights (", there,
      ") than those of ManagerOptions::weights_file (", ToHex(*here),
      "), or the same in another layout; give it the file with which it began, "
      "and the same map"));
}

absl::Status SaveTraining(const ExecutionPlan& plan, const Manager& manager,
                          absl::string_view path, const TrainingNotes& notes) {
  const auto tensors = manager.TrainedTensors(plan);
  if (!tensors.ok()) return tensors.status();
  Metadata metadata = {
      {kTrainingFileKey, absl::StrCat(manager.iteration())},
      {kVersionKey, kVersion},
      {kSeedKey, absl::StrCat(manager.seed())},
      {kOptimizerKey, std::string(manager.optimizer()->name())}};
  if (const auto frozen = manager.frozen_weights_fingerprint()) {
    metadata[kFrozenKey] = ToHex(*frozen);
  }
  for (const auto& [name, text] : notes) {
    metadata[absl::StrCat(kNotePrefix, name)] = text;
  }
  return SaveTensors(MakeViews(*tensors), metadata, path);
}

absl::StatusOr<TrainingNotes> ResumeTraining(absl::string_view path,
                                             const ExecutionPlan& plan,
                                             Manager* manager,
                                             const CheckNotes& check) {
  const auto tensors = manager->TrainedTensors(plan);
  if (!tensors.ok()) return tensors.status();
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> iteration = ReadIteration(*file);
  if (!iteration.ok()) return iteration.status();
  TrainingNotes notes = ReadNotes(*file);
  absl::Status status =
      CheckMetadata(*file, *manager, *iteration, notes, check);
  if (status.ok()) {
    status = LoadTensors(*file, ParameterMap(), MakeViews(*tensors));
  }
  if (!status.ok()) return status;
  manager->set_iteration(*iteration);
  return notes;
}

}  // namespace footprint

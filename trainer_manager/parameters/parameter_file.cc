#include "footprint/trainer_manager/parameters/parameter_file.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/parameters/tensor_source.h"

namespace footprint {
namespace {

int64_t CountBytes(const Parameters::Parameter& parameter) {
  return static_cast<int64_t>(parameter.values.size() * sizeof(float));
}

bool IsIgnored(const std::string& name, const ParameterMap& map) {
  for (const std::string& ending : map.ignored_endings) {
    if (absl::EndsWith(name, ending)) return true;
  }
  return false;
}

// Returns the parameters to load. Fails if the map names others than the
// model's.
absl::StatusOr<std::vector<Parameters::Parameter>> ChooseParameters(
    const ParameterMap& map,
    absl::Span<const Parameters::Parameter> parameters) {
  absl::flat_hash_set<absl::string_view> known;
  std::vector<Parameters::Parameter> chosen;
  for (const Parameters::Parameter& parameter : parameters) {
    known.insert(parameter.name);
    if (!map.only || MatchesPattern(*map.only, parameter.name)) {
      chosen.push_back(parameter);
    }
  }
  for (const auto& entry : map.tensors) {
    if (known.contains(entry.first)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the map names \"", entry.first,
                     "\", which is not a parameter of the model"));
  }
  if (map.only && chosen.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the pattern \"", *map.only, "\" matches no parameter of the model"));
  }
  return chosen;
}

// Returns the file's tensors in the order of the model's parameters.
absl::StatusOr<std::vector<TensorSource>> Match(
    const SafetensorsIndex& index, const ParameterMap& map,
    absl::Span<const Parameters::Parameter> parameters) {
  std::vector<TensorSource> sources;
  absl::flat_hash_set<std::string> used;
  for (const Parameters::Parameter& parameter : parameters) {
    const absl::StatusOr<TensorSource> source =
        FindTensorSource(index, map, parameter.name, parameter.shape);
    if (!source.ok()) return source.status();
    used.insert(source->tensor->name);
    sources.push_back(*source);
  }
  if (map.only) return sources;
  for (const TensorInfo& tensor : index.tensors()) {
    if (!used.contains(tensor.name) && !IsIgnored(tensor.name, map)) {
      return absl::InvalidArgumentError(
          absl::StrCat(index.file_name(), ": tensor \"", tensor.name,
                       "\" is not a parameter of the model"));
    }
  }
  return sources;
}

}  // namespace

absl::Status CheckLoadable(absl::string_view path,
                           const Parameters::Parameter& tensor) {
  const int64_t place = FirstRefused(tensor.name, tensor.values);
  if (place < 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": not written, since \"", tensor.name, "\" is ",
      tensor.values[static_cast<size_t>(place)], " at index ", place,
      "; no parameter takes NaN or infinity, no variance less than 0"));
}

absl::Status SaveTensors(absl::Span<const Parameters::Parameter> tensors,
                         const std::map<std::string, std::string>& metadata,
                         absl::string_view path) {
  std::vector<TensorSpec> specs;
  for (const Parameters::Parameter& tensor : tensors) {
    const absl::Status status = CheckLoadable(path, tensor);
    if (!status.ok()) return status;
    specs.push_back({std::string(tensor.name), DType::kF32, tensor.shape});
  }
  SafetensorsWriterOptions options;
  options.metadata = metadata;
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::Create(path, specs, options);
  if (!writer.ok()) return writer.status();
  for (const Parameters::Parameter& tensor : tensors) {
    const absl::Status status =
        writer->Append(tensor.values.data(), CountBytes(tensor));
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

absl::Status LoadTensors(const SafetensorsFile& file, const ParameterMap& map,
                         absl::Span<const Parameters::Parameter> tensors) {
  const auto chosen = ChooseParameters(map, tensors);
  if (!chosen.ok()) return chosen.status();
  const auto sources = Match(file.index(), map, *chosen);
  if (!sources.ok()) return sources.status();
  std::vector<float> buffer(kTensorBufferValues);
  for (size_t i = 0; i < chosen->size(); ++i) {
    const auto print = CheckTensorValues(file, (*sources)[i], (*chosen)[i].name,
                                         absl::MakeSpan(buffer));
    if (!print.ok()) return print.status();
  }
  for (size_t i = 0; i < chosen->size(); ++i) {
    const absl::Status status = ReadTensorValues(
        file, (*sources)[i], absl::MakeSpan(buffer), (*chosen)[i].values);
    if (!status.ok()) return status;
  }
  return file.CheckUnchanged();
}

absl::Status SaveParameters(const Parameters& parameters,
                            absl::string_view path) {
  return SaveTensors(parameters.all(), {}, path);
}

absl::Status LoadParameters(absl::string_view path, Parameters* parameters) {
  return LoadParameters(path, ParameterMap(), parameters);
}

absl::Status LoadParameters(absl::string_view path, const ParameterMap& map,
                            Parameters* parameters) {
  return LoadParameters(path, map, parameters->all());
}

absl::Status LoadParameters(
    absl::string_view path, const ParameterMap& map,
    absl::Span<const Parameters::Parameter> parameters) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  if (file->index().metadata().count(kTrainingFileKey) == 0) {
    return LoadTensors(*file, map, parameters);
  }
  ParameterMap without_states = map;
  for (int i = 0; i < kMostOptimizerStates; ++i) {
    without_states.ignored_endings.push_back(absl::StrCat(kStateEnding, i));
  }
  return LoadTensors(*file, without_states, parameters);
}

}  // namespace footprint

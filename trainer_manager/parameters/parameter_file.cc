#include "footprint/trainer_manager/parameters/parameter_file.h"

#include <algorithm>
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

namespace footprint {
namespace {

Shape Transposed(const Shape& matrix) {
  return {matrix.extent(1), matrix.extent(0)};
}

int64_t CountBytes(const Parameters::Parameter& parameter) {
  return static_cast<int64_t>(parameter.values.size() * sizeof(float));
}

// The file's tensor for a parameter.
struct Source {
  const TensorInfo* tensor = nullptr;
  bool transposed = false;
};

FileTensor MakeFileTensor(const Parameters::Parameter& parameter,
                          const ParameterMap& map) {
  const auto found = map.tensors.find(std::string(parameter.name));
  if (found != map.tensors.end()) return found->second;
  FileTensor same;
  same.name = std::string(parameter.name);
  return same;
}

absl::StatusOr<Source> MatchOne(const SafetensorsIndex& index,
                                const Parameters::Parameter& parameter,
                                const FileTensor& in_file) {
  if (in_file.transposed && parameter.shape.rank() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter \"", parameter.name, "\" is of shape ",
        parameter.shape.ToString(), "; only a matrix can be transposed"));
  }
  const absl::StatusOr<const TensorInfo*> tensor = index.Find(in_file.name);
  if (!tensor.ok()) {
    return absl::InvalidArgumentError(tensor.status().message());
  }
  const Shape expected =
      in_file.transposed ? Transposed(parameter.shape) : parameter.shape;
  if ((*tensor)->dtype == DType::kF32 && (*tensor)->shape == expected) {
    return Source{*tensor, in_file.transposed};
  }
  const bool fits_transposed =
      expected.rank() == 2 && (*tensor)->shape == Transposed(expected);
  return absl::InvalidArgumentError(absl::StrCat(
      index.file_name(), ": tensor \"", in_file.name, "\" is ",
      DTypeName((*tensor)->dtype), " ", (*tensor)->shape.ToString(),
      ", but the model has F32 ", expected.ToString(),
      fits_transposed ? "; transposed it would fit: see ParameterMap" : ""));
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
                     "\", which is no parameter of the model"));
  }
  if (map.only && chosen.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the pattern \"", *map.only, "\" matches no parameter of the model"));
  }
  return chosen;
}

// Returns the file's tensors in the order of the model's parameters.
absl::StatusOr<std::vector<Source>> Match(
    const SafetensorsIndex& index, const ParameterMap& map,
    absl::Span<const Parameters::Parameter> parameters) {
  std::vector<Source> sources;
  absl::flat_hash_set<std::string> used;
  for (const Parameters::Parameter& parameter : parameters) {
    const FileTensor in_file = MakeFileTensor(parameter, map);
    const absl::StatusOr<Source> source = MatchOne(index, parameter, in_file);
    if (!source.ok()) return source.status();
    used.insert(in_file.name);
    sources.push_back(*source);
  }
  if (map.only) return sources;
  for (const TensorInfo& tensor : index.tensors()) {
    if (!used.contains(tensor.name) && !IsIgnored(tensor.name, map)) {
      return absl::InvalidArgumentError(
          absl::StrCat(index.file_name(), ": tensor \"", tensor.name,
                       "\" is no parameter of the model"));
    }
  }
  return sources;
}

// Reads the tensor's values from index `first` on.
absl::Status ReadPart(const SafetensorsFile& file, const TensorInfo& tensor,
                      size_t first, absl::Span<float> values) {
  return file.Read(
      tensor.offset_bytes + static_cast<int64_t>(first * sizeof(float)),
      static_cast<int64_t>(values.size() * sizeof(float)), values.data());
}

constexpr size_t kBufferValues = 16 * 1024;

// Fails unless the parameter accepts all of the tensor's values.
absl::Status CheckValues(const SafetensorsFile& file, const TensorInfo& tensor,
                         const Parameters::Parameter& parameter) {
  std::vector<float> buffer(std::min(kBufferValues, parameter.values.size()));
  for (size_t first = 0; first < parameter.values.size();
       first += buffer.size()) {
    const auto part = absl::MakeSpan(buffer).subspan(
        0, std::min(buffer.size(), parameter.values.size() - first));
    const absl::Status status = ReadPart(file, tensor, first, part);
    if (!status.ok()) return status;
    const int64_t place = FirstRefused(parameter.name, part);
    if (place < 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        file.name(), ": tensor \"", tensor.name, "\" is ",
        part[static_cast<size_t>(place)], " at index ",
        first + static_cast<size_t>(place),
        "; no parameter takes NaN or infinity, no variance less than 0"));
  }
  return absl::OkStatus();
}

// Reads a matrix of the file and writes its transpose to `values`.
absl::Status ReadTransposed(const SafetensorsFile& file,
                            const TensorInfo& tensor,
                            absl::Span<float> values) {
  const size_t rows = static_cast<size_t>(tensor.shape.rows());
  const size_t columns = static_cast<size_t>(tensor.shape.columns());
  std::vector<float> buffer(std::min(kBufferValues, values.size()));
  for (size_t first = 0; first < values.size(); first += buffer.size()) {
    const auto part = absl::MakeSpan(buffer).subspan(
        0, std::min(buffer.size(), values.size() - first));
    const absl::Status status = ReadPart(file, tensor, first, part);
    if (!status.ok()) return status;
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t row = (first + i) / columns;
      values[(first + i) % columns * rows + row] = part[i];
    }
  }
  return absl::OkStatus();
}

absl::Status ReadValues(const SafetensorsFile& file, const Source& source,
                        absl::Span<float> values) {
  return source.transposed ? ReadTransposed(file, *source.tensor, values)
                           : ReadPart(file, *source.tensor, 0, values);
}

}  // namespace

absl::Status SaveTensors(absl::Span<const Parameters::Parameter> tensors,
                         const std::map<std::string, std::string>& metadata,
                         absl::string_view path) {
  std::vector<TensorSpec> specs;
  for (const Parameters::Parameter& tensor : tensors) {
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
  for (size_t i = 0; i < chosen->size(); ++i) {
    const absl::Status status =
        CheckValues(file, *(*sources)[i].tensor, (*chosen)[i]);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < chosen->size(); ++i) {
    const absl::Status status =
        ReadValues(file, (*sources)[i], (*chosen)[i].values);
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

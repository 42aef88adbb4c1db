#include "footprint/trainer_manager/runtime/weight_reader.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {
namespace {

struct ReadOperand {
  std::string name;
  TensorType spec;  // of the whole weight
};

// Returns the operands in the order of their numbers.
std::vector<ReadOperand> FindReadOperands(const ExecutionPlan& plan) {
  std::vector<ReadOperand> operands;
  for (const PlannedStep& step : plan.steps) {
    if (step.kind == StepKind::kReadRows) {
      const ResolvedNetwork::ResolvedLayer& owner =
          plan.network->layers[plan.network->layers[step.layer].weights_of];
      const WeightSpec& table = owner.signature.weights[0];
      operands.push_back(
          {absl::StrCat(owner.name, ".", table.name), table.spec});
    }
    if (step.kind != StepKind::kReadWeights) continue;
    for (const TensorUse& use : step.uses) {
      operands.push_back(
          {plan.tensors[use.tensor].name,
           FindWeight(*plan.network, step.layer, use.operand).spec});
    }
  }
  return operands;
}

// Returns the steps that run by tiles, each with the number of the operand that
// the step before it reads.
std::vector<std::pair<uint32_t, uint32_t>> FindTiledSteps(
    const ExecutionPlan& plan) {
  std::vector<std::pair<uint32_t, uint32_t>> tiled;
  uint32_t operands = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlannedStep& step = plan.steps[s];
    if (step.kind == StepKind::kReadRows) ++operands;
    if (step.kind == StepKind::kReadWeights) {
      operands += static_cast<uint32_t>(step.uses.size());
    } else if (TileColumns(plan, step) > 0) {
      const Operand matrix =
          FindMatrix(plan.network->layers[step.layer].signature);
      const std::vector<TensorUse>& read = plan.steps[s - 1].uses;
      const auto use = std::find_if(
          read.begin(), read.end(),
          [&](const TensorUse& each) { return each.operand == matrix; });
      tiled.emplace_back(static_cast<uint32_t>(s),
                         operands - static_cast<uint32_t>(read.end() - use));
    }
  }
  return tiled;
}

absl::flat_hash_set<std::string> FindParameterNames(
    const ResolvedNetwork& network) {
  absl::flat_hash_set<std::string> names;
  for (const ResolvedNetwork::ResolvedLayer& layer : network.layers) {
    for (const auto* specs :
         {&layer.signature.weights, &layer.signature.statistics}) {
      for (const WeightSpec& spec : *specs) {
        names.insert(absl::StrCat(layer.name, ".", spec.name));
      }
    }
  }
  return names;
}

// Fails if the file has a bias beside the weight of a layer that the network
// makes without one, since the base would compute something else without it.
absl::Status CheckBias(const SafetensorsIndex& index, const ParameterMap& map,
                       const absl::flat_hash_set<std::string>& parameters,
                       absl::string_view weight) {
  constexpr absl::string_view kWeight = ".weight";
  const std::string in_file = FindFileTensor(map, weight).name;
  absl::string_view layer = weight;
  absl::string_view layer_in_file = in_file;
  if (!absl::ConsumeSuffix(&layer, kWeight) ||
      !absl::ConsumeSuffix(&layer_in_file, kWeight) ||
      parameters.contains(absl::StrCat(layer, ".bias"))) {
    return absl::OkStatus();
  }
  const std::string bias = absl::StrCat(layer_in_file, ".bias");
  if (!index.Find(bias).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      index.file_name(), ": has \"", bias, "\", but layer \"", layer,
      "\" of the network has no bias: make the layer with one"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WeightReader>> WeightReader::Open(
    const ExecutionPlan& plan, const std::string& path,
    const ParameterMap& map) {
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<WeightReader> reader(new WeightReader(*std::move(file)));
  reader->tiled_steps_ = FindTiledSteps(plan);
  std::vector<float> buffer(kTensorBufferValues);
  bool is_transposed = false;
  absl::flat_hash_map<absl::string_view, uint32_t> known;
  const std::vector<ReadOperand> operands = FindReadOperands(plan);
  const absl::flat_hash_set<std::string> parameters =
      FindParameterNames(*plan.network);
  for (const ReadOperand& operand : operands) {
    const auto added = known.try_emplace(
        operand.name, static_cast<uint32_t>(reader->sources_.size()));
    reader->source_of_.push_back(added.first->second);
    if (!added.second) continue;
    const absl::StatusOr<TensorSource> source = FindTensorSource(
        reader->file_.index(), map, operand.name, operand.spec.shape);
    if (!source.ok()) return source.status();
    const absl::Status fits =
        CheckBias(reader->file_.index(), map, parameters, operand.name);
    if (!fits.ok()) return fits;
    const absl::StatusOr<uint64_t> print = CheckTensorValues(
        reader->file_, *source, operand.name, absl::MakeSpan(buffer));
    if (!print.ok()) return print.status();
    // The hash is a sum, since the order in which plans read may differ.
    const uint64_t name = Fingerprint(
        operand.name.data(), static_cast<int64_t>(operand.name.size()));
    reader->fingerprint_ +=
        MixBits(MixBits(*print ^ name) + (source->transposed ? 1 : 0));
    is_transposed |= source->transposed;
    reader->sources_.push_back(*source);
  }
  if (is_transposed) reader->buffer_ = std::move(buffer);
  const absl::Status status = reader->file_.CheckUnchanged();
  if (!status.ok()) return status;
  return reader;
}

absl::Status WeightReader::Read(size_t first,
                                absl::Span<const StepData::Slot> slots) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const StepData::Slot& slot = slots[i];
    const TensorSource& source = sources_[source_of_[first + i]];
    const Shape& shape = slot.spec->shape;
    const auto values = absl::MakeSpan(static_cast<float*>(slot.data),
                                       static_cast<size_t>(shape.elements()));
    const absl::Status status =
        shape.elements() < source.tensor->shape.elements()
            ? ReadTensorColumns(file_, source, 0, shape.columns(),
                                absl::MakeSpan(buffer_), values)
            : ReadTensorValues(file_, source, absl::MakeSpan(buffer_), values);
    if (!status.ok()) return status;
  }
  return file_.CheckUnchanged();
}

absl::optional<size_t> WeightReader::FindTiles(size_t step) const {
  const auto found = std::lower_bound(
      tiled_steps_.begin(), tiled_steps_.end(), step,
      [](const auto& tiled, size_t each) { return tiled.first < each; });
  if (found == tiled_steps_.end() || found->first != step) return absl::nullopt;
  return found->second;
}

absl::Status WeightReader::ReadTile(size_t number, const MatrixTile& tile,
                                    float* values) {
  const TensorSource& source = sources_[source_of_[number]];
  const Shape& in_file = source.tensor->shape;
  const int64_t rows = source.transposed ? in_file.columns() : in_file.rows();
  const absl::Status status = ReadTensorColumns(
      file_, source, tile.begin, tile.count(), absl::MakeSpan(buffer_),
      absl::MakeSpan(values, static_cast<size_t>(rows * tile.count())));
  return status.ok() ? file_.CheckUnchanged() : status;
}

absl::Status WeightReader::ReadRows(size_t number, const StepData& data) {
  const TensorSource& table = sources_[source_of_[number]];
  const Shape& in_file = table.tensor->shape;
  const int64_t rows = table.transposed ? in_file.columns() : in_file.rows();
  const int64_t columns = table.transposed ? in_file.rows() : in_file.columns();
  const int32_t* const indices = data.Read<int32_t>(Role::kInput);
  float* const output = data.Write(Role::kOutput);
  for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
    if (indices[i] < 0 || indices[i] >= rows) {
      return RefuseRow(indices[i], i, rows);
    }
    const absl::Status status = ReadTensorRow(
        file_, table, indices[i],
        absl::MakeSpan(output + i * columns, static_cast<size_t>(columns)));
    if (!status.ok()) return status;
  }
  return file_.CheckUnchanged();
}

}  // namespace footprint

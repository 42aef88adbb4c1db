#include "footprint/trainer_manager/runtime/weight_reader.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::StatusOr<std::unique_ptr<WeightReader>> WeightReader::Open(
    const ExecutionPlan& plan, const std::string& path,
    const ParameterMap& map) {
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<WeightReader> reader(new WeightReader(*std::move(file)));
  std::vector<float> buffer(kTensorBufferValues);
  bool is_transposed = false;
  absl::flat_hash_map<absl::string_view, uint32_t> known;
  for (const PlannedStep& step : plan.steps) {
    if (step.kind != StepKind::kReadWeights) continue;
    for (const TensorUse& use : step.uses) {
      const PlannedTensor& tensor = plan.tensors[use.tensor];
      const auto added = known.try_emplace(
          tensor.name, static_cast<uint32_t>(reader->sources_.size()));
      reader->source_of_.push_back(added.first->second);
      if (!added.second) continue;
      const absl::StatusOr<TensorSource> source = FindTensorSource(
          reader->file_.index(), map, tensor.name, tensor.spec.shape);
      if (!source.ok()) return source.status();
      const absl::Status status = CheckTensorValues(
          reader->file_, *source, tensor.name, absl::MakeSpan(buffer));
      if (!status.ok()) return status;
      is_transposed |= source->transposed;
      reader->sources_.push_back(*source);
    }
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
    const absl::Status status = ReadTensorValues(
        file_, sources_[source_of_[first + i]], absl::MakeSpan(buffer_),
        absl::MakeSpan(static_cast<float*>(slot.data),
                       static_cast<size_t>(slot.spec->shape.elements())));
    if (!status.ok()) return status;
  }
  return file_.CheckUnchanged();
}

}  // namespace footprint

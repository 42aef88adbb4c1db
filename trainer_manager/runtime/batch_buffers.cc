#include "footprint/trainer_manager/runtime/batch_buffers.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/memory/mapped_memory.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/math/finite_values.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {
namespace {

const char* PartName(BatchPart part) {
  return part == BatchPart::kInput ? "input" : "label";
}

}  // namespace

BatchBuffers::BatchBuffers(const ExecutionPlan& plan, const StepTable& table,
                           bool watch_lent)
    : specs_(table.specs()), micro_batches_(plan.micro_batches) {
  // The data is null for lent memory.
  const auto buffer_of = [&](size_t tensor) {
    const bool fixed =
        plan.StorageOfTensor(tensor).storage_class == StorageClass::kFixed;
    return Buffer{fixed ? table.fixed() + plan.OffsetOfTensor(tensor) : nullptr,
                  table.NumberSpec(plan.tensors[tensor]), /*is_set=*/false};
  };
  const auto add_all = [&](const std::vector<size_t>& tensors,
                           std::vector<Buffer>* buffers) {
    for (const size_t tensor : tensors) buffers->push_back(buffer_of(tensor));
  };
  add_all(plan.input_tensors, &inputs_);
  add_all(plan.label_tensors, &labels_);
  add_all(plan.output_tensors, &outputs_);
  if (!labels_.empty()) {
    loss_ = reinterpret_cast<const float*>(buffer_of(plan.loss_tensor).data);
  }
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    if (layer.is_loss()) ignored_label_ = layer.signature.ignored_label;
  }
  if (plan.mode == NetworkMode::kInference) {
    lent_.resize(inputs_.size() + labels_.size());
    if (watch_lent) fingerprints_.resize(lent_.size());
  }
}

absl::Status BatchBuffers::Set(BatchPart part, size_t index, InputView values) {
  std::vector<Buffer>& buffers = FindBuffers(part);
  if (index >= buffers.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", PartName(part), " ", index, "; there are ",
                     buffers.size()));
  }
  Buffer& buffer = buffers[index];
  const TensorType& spec = SpecAt(buffer);
  const absl::Status status =
      CheckInputView(PartName(part), index, spec, micro_batches_, values);
  if (!status.ok()) return status;
  std::memcpy(buffer.data, values.data(),
              static_cast<size_t>(SizeBytes(spec) * micro_batches_));
  buffer.is_set = true;
  return absl::OkStatus();
}

template <typename Value>
absl::StatusOr<absl::Span<Value>> BatchBuffers::ValuesToFill(BatchPart part,
                                                             size_t index) {
  constexpr DType kType =
      std::is_same<Value, int32_t>::value ? DType::kI32 : DType::kF32;
  std::vector<Buffer>& buffers = FindBuffers(part);
  if (index >= buffers.size() || SpecAt(buffers[index]).type != kType) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", PartName(part), " ", index, " of ",
                     DTypeName(kType), " values to fill"));
  }
  Buffer& buffer = buffers[index];
  buffer.is_set = true;
  return absl::MakeSpan(
      reinterpret_cast<Value*>(buffer.data),
      static_cast<size_t>(SpecAt(buffer).shape.elements() * micro_batches_));
}

template absl::StatusOr<absl::Span<float>> BatchBuffers::ValuesToFill(BatchPart,
                                                                      size_t);
template absl::StatusOr<absl::Span<int32_t>> BatchBuffers::ValuesToFill(
    BatchPart, size_t);

absl::Status BatchBuffers::CheckBatch(const void** culprit) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const absl::Status status =
        CheckData(inputs_[i], BatchPart::kInput, i, culprit);
    if (!status.ok()) return status;
  }
  return CheckData(labels_[0], BatchPart::kLabel, 0, culprit);
}

absl::Status BatchBuffers::CheckData(const Buffer& buffer, BatchPart part,
                                     size_t index, const void** culprit) const {
  if (!buffer.is_set) {
    return absl::FailedPreconditionError(
        absl::StrCat(PartName(part), " ", index,
                     " was never set: give the manager its values before "
                     "the first step"));
  }
  const TensorType& spec = SpecAt(buffer);
  if (spec.type != DType::kF32) return absl::OkStatus();
  const float* values = reinterpret_cast<const float*>(buffer.data);
  const int64_t place =
      FirstNotFinite(values, spec.shape.elements() * micro_batches_);
  if (place < 0) return absl::OkStatus();
  *culprit = buffer.data;
  return absl::OutOfRangeError(absl::StrCat(PartName(part), " ", index, " is ",
                                            values[place], " at index ", place,
                                            " of the batch"));
}

double BatchBuffers::WeighMicroBatch(int64_t micro_batch) const {
  if (micro_batches_ == 1 || !ignored_label_) return 1;
  const TensorType& spec = SpecAt(labels_[0]);
  const auto count_all = [&](const auto* labels, auto ignored) {
    const int64_t elements = spec.shape.elements();
    const auto count = [&](int64_t first, int64_t number) {
      return static_cast<double>(number - std::count(labels + first,
                                                     labels + first + number,
                                                     ignored));
    };
    const double all = count(0, elements * micro_batches_);
    if (all == 0) return 1.0;  // the loss refuses it
    return count(micro_batch * elements, elements) *
           static_cast<double>(micro_batches_) / all;
  };
  const char* const data = labels_[0].data;
  return spec.type == DType::kI32
             ? count_all(reinterpret_cast<const int32_t*>(data),
                         static_cast<int32_t>(*ignored_label_))
             : count_all(reinterpret_cast<const float*>(data), *ignored_label_);
}

const BatchBuffers::Buffer& BatchBuffers::LentBuffer(size_t index) const {
  return index < inputs_.size() ? inputs_[index]
                                : labels_[index - inputs_.size()];
}

absl::Status BatchBuffers::Lend(size_t index, InputView values) {
  const TensorType& spec = SpecAt(LentBuffer(index));
  const bool is_input = index < inputs_.size();
  const char* const what =
      PartName(is_input ? BatchPart::kInput : BatchPart::kLabel);
  const size_t number = is_input ? index : index - inputs_.size();
  const absl::Status status = CheckInputView(what, number, spec, 1, values);
  if (!status.ok()) return status;
  lent_[index] = values.data();
  if (fingerprints_.empty()) return absl::OkStatus();
  if (!IsMapped(values.data(), SizeBytes(spec))) {
    return absl::FailedPreconditionError(absl::StrCat(
        what, " ", number,
        " is not memory of this program: it was released, or its address or "
        "size is wrong"));
  }
  fingerprints_[index] = Fingerprint(values.data(), SizeBytes(spec));
  return absl::OkStatus();
}

absl::Status BatchBuffers::LendInputs(absl::Span<const InputView> inputs) {
  if (inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an inference with ", inputs.size(),
                     " inputs, but the network has ", inputs_.size()));
  }
  absl::Status status;
  for (size_t i = 0; status.ok() && i < inputs.size(); ++i) {
    status = Lend(i, inputs[i]);
  }
  return status;
}

absl::Status BatchBuffers::LendLabel(InputView label) {
  return Lend(inputs_.size(), label);
}

absl::Status BatchBuffers::CheckUnchanged(
    absl::Span<const StepData::Slot> slots, const LayerName& layer) const {
  if (fingerprints_.empty()) return absl::OkStatus();
  for (const StepData::Slot& slot : slots) {
    for (size_t i = 0; i < lent_.size(); ++i) {
      if (slot.data != lent_[i]) continue;
      const int64_t size_bytes = SizeBytes(SpecAt(LentBuffer(i)));
      const bool released = !IsMapped(slot.data, size_bytes);
      if (!released && Fingerprint(slot.data, size_bytes) == fingerprints_[i]) {
        continue;
      }
      const bool is_input = i < inputs_.size();
      return absl::FailedPreconditionError(absl::StrCat(
          is_input ? "input " : "label ", is_input ? i : i - inputs_.size(),
          released ? " was released" : " changed", " before layer \"",
          layer.Text(),
          "\" was done with it: keep the memory unchanged until the call "
          "returns"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> BatchBuffers::Output(
    size_t index) const {
  if (index >= outputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no output ", index, " is kept; there are ", outputs_.size()));
  }
  const Buffer& buffer = outputs_[index];
  return absl::MakeConstSpan(
      reinterpret_cast<const float*>(buffer.data),
      static_cast<size_t>(SpecAt(buffer).shape.elements()));
}

std::string BatchBuffers::FirstOutputNotFinite() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Buffer& output = outputs_[i];
    const TensorType& spec = SpecAt(output);
    if (output.data == nullptr || spec.type != DType::kF32) continue;
    const float* values = reinterpret_cast<const float*>(output.data);
    const int64_t place = FirstNotFinite(values, spec.shape.elements());
    if (place < 0) continue;
    return absl::StrCat("output ", i, " is ", values[place], " at index ",
                        place);
  }
  return "";
}

}  // namespace footprint

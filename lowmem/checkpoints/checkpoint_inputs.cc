#include "footprint/lowmem/checkpoints/checkpoint_inputs.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/same_file.h"
#include "footprint/lowmem/weights/weight_file.h"

namespace footprint {

namespace {

absl::Status RefuseGguf(absl::string_view path) {
  if (!IsGgufFile(path)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": is a GGUF file, which is read as it is and needs no packing; "
      "to change its type, use llama-quantize"));
}

}  // namespace

absl::StatusOr<CheckpointInputs> CheckpointInputs::Open(
    absl::string_view path) {
  // A damaged GGUF file is named as one, too.
  absl::Status status = RefuseGguf(path);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(path, WeightBackend::kPread);
  if (!store.ok()) return store.status();
  for (const std::string& name : (*store)->FileNames()) {
    status.Update(RefuseGguf(name));
  }
  if (!status.ok()) return status;
  CheckpointInputs inputs;
  inputs.store_ = *std::move(store);
  return inputs;
}

absl::Status CheckpointInputs::CheckIsNone(absl::string_view output) const {
  const std::string path(output);
  for (const std::string& name : store_->FileNames()) {
    if (!IsSameFile(name, path)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is a file of the checkpoint that is read, which would be lost; "
        "name another file"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<InputWeight>> CheckpointInputs::Weights() const {
  std::vector<InputWeight> weights;
  for (const TensorInfo& tensor : store_->index().tensors()) {
    const absl::StatusOr<Weight> weight = store_->Find(tensor.name);
    if (!weight.ok()) return weight.status();
    weights.push_back({store_.get(), *weight});
  }
  return weights;
}

}  // namespace footprint

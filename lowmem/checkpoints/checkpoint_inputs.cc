#include "footprint/lowmem/checkpoints/checkpoint_inputs.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/safetensors/shard_index.h"
#include "footprint/lowmem/weights/weight_file.h"

namespace footprint {

absl::Status CheckpointInputs::Add(absl::string_view path) {
  if (IsGgufFile(path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is a GGUF file, which is read as it is and needs no packing; "
        "to change its type, use llama-quantize"));
  }
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(path, WeightBackend::kPread);
  if (!store.ok()) return store.status();
  stores_.push_back(*std::move(store));
  return absl::OkStatus();
}

absl::StatusOr<CheckpointInputs> CheckpointInputs::Open(
    absl::string_view path) {
  CheckpointInputs inputs;
  inputs.path_ = std::string(path);
  if (!absl::EndsWith(path, ".json")) {
    const absl::Status added = inputs.Add(path);
    if (!added.ok()) return added;
    return inputs;
  }
  const absl::StatusOr<std::vector<Shard>> shards = ReadShardIndex(path);
  if (!shards.ok()) return shards.status();
  for (const Shard& shard : *shards) {
    const absl::Status added = inputs.Add(shard.path);
    if (!added.ok()) return added;
    const WeightStore* const store = inputs.stores_.back().get();
    for (const std::string& tensor : shard.tensors) {
      const auto found = store->index().Find(tensor);
      if (!found.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(
            path, ": promises a tensor that is not there: ",
            found.status().message(), ". Download all files again"));
      }
      inputs.owners_[tensor] = store;
    }
  }
  return inputs;
}

absl::Status CheckpointInputs::CheckIsNone(absl::string_view output) const {
  const std::string path(output);
  bool is_one = IsSameFile(path_, path);
  for (const std::unique_ptr<WeightStore>& store : stores_) {
    is_one = is_one || IsSameFile(store->index().file_name(), path);
  }
  if (!is_one) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": is a file of the checkpoint that is read, which would be lost; "
      "name another file"));
}

bool CheckpointInputs::Counts(const std::string& name,
                              const WeightStore& store) const {
  const auto owner = owners_.find(name);
  return owner == owners_.end() || owner->second == &store;
}

absl::StatusOr<std::vector<InputWeight>> CheckpointInputs::Weights() const {
  std::vector<InputWeight> weights;
  std::map<std::string, const WeightStore*> first_of;
  for (const std::unique_ptr<WeightStore>& store : stores_) {
    for (const TensorInfo& tensor : store->index().tensors()) {
      if (!Counts(tensor.name, *store)) continue;
      const auto [first, is_new] = first_of.emplace(tensor.name, store.get());
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the tensor \"", tensor.name, "\" is in ",
            first->second->index().file_name(), " and in ",
            store->index().file_name(),
            ", and the index does not say which counts: add it there"));
      }
      const absl::StatusOr<Weight> weight = store->Find(tensor.name);
      if (!weight.ok()) return weight.status();
      weights.push_back({store.get(), *weight});
    }
  }
  return weights;
}

}  // namespace footprint

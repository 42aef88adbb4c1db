#include "footprint/trainer_manager/execution/storage_sharing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

StorageClass FindClass(TensorKind kind, const ExecutionPlan& plan) {
  switch (kind) {
    case TensorKind::kWeight:
    case TensorKind::kRunningStatistic:
      return StorageClass::kModel;
    case TensorKind::kInput:
    case TensorKind::kLabel:
      return plan.mode == NetworkMode::kInference ? StorageClass::kUser
                                                  : StorageClass::kFixed;
    case TensorKind::kStatisticCopy:
      // The first micro-batch makes the copy, and the last one may need it.
      return plan.micro_batches > 1 ? StorageClass::kFixed
                                    : StorageClass::kArena;
    case TensorKind::kOptimizerState:
    case TensorKind::kGradientSum:
    case TensorKind::kOutput:
      return StorageClass::kFixed;
    default:
      return StorageClass::kArena;
  }
}

// Lets tensors share a storage if a step may overwrite a tensor that it reads.
class StorageSharing {
 public:
  explicit StorageSharing(ExecutionPlan* plan) : plan_(*plan) {}

  void OneEach() {
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      PlannedTensor& tensor = plan_.tensors[t];
      tensor.storage = plan_.storages.size();
      Storage storage;
      storage.storage_class = FindClass(tensor.kind, plan_);
      storage.size_bytes = tensor.size_bytes;
      storage.lower_step = tensor.lower_step;
      storage.upper_step = tensor.upper_step;
      storage.tensors = {t};
      plan_.storages.push_back(std::move(storage));
    }
  }

  void Share() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const InPlace& in_place : plan_.steps[s].in_place) {
        const TensorUse* written = Find(s, in_place.written);
        const TensorUse* read = Find(s, in_place.read);
        if (written == nullptr || read == nullptr) continue;
        if (IsLegal(s, *written, *read, in_place.same_bytes)) {
          Merge(written->tensor, read->tensor);
        }
      }
    }
  }

  void DropEmpty() {
    std::vector<Storage> left;
    for (Storage& storage : plan_.storages) {
      if (storage.tensors.empty()) continue;
      for (const size_t t : storage.tensors) {
        plan_.tensors[t].storage = left.size();
      }
      left.push_back(std::move(storage));
    }
    plan_.storages = std::move(left);
  }

 private:
  const TensorUse* Find(size_t s, const Operand& operand) const {
    for (const TensorUse& use : plan_.steps[s].uses) {
      if (use.operand == operand) return &use;
    }
    return nullptr;
  }

  // Returns whether the step allows `written` to take the place of `read`.
  bool IsAllowed(size_t s, const Operand& written, const Operand& read) const {
    for (const InPlace& in_place : plan_.steps[s].in_place) {
      if (in_place.written == written && in_place.read == read) return true;
    }
    return false;
  }

  // Returns whether `written` may take the storage of `read`: `written` begins
  // in this step, has a storage of the same size to itself, and nothing reads
  // the old bytes later, unless the step leaves the same bytes.
  bool IsLegal(size_t s, const TensorUse& written, const TensorUse& read,
               bool same_bytes) const {
    const PlannedTensor& target = plan_.tensors[written.tensor];
    const Storage& own = plan_.storages[target.storage];
    const Storage& shared = plan_.storages[plan_.tensors[read.tensor].storage];
    if (own.tensors.size() != 1 || &own == &shared ||
        target.size_bytes != shared.size_bytes ||
        target.lower_step != static_cast<int64_t>(s)) {
      return false;
    }
    return HasFittingClass(own, shared, same_bytes) &&
           (same_bytes || IsLastReader(s, shared)) &&
           NoOtherOperandSuffers(s, written, shared, same_bytes);
  }

  static bool HasFittingClass(const Storage& own, const Storage& shared,
                              bool same_bytes) {
    if (own.storage_class != StorageClass::kArena) {
      // An output may be computed in its final place, but must not share it
      // with another output.
      return own.storage_class == StorageClass::kFixed &&
             shared.storage_class == StorageClass::kArena;
    }
    return shared.storage_class == StorageClass::kArena || same_bytes;
  }

  bool IsLastReader(size_t s, const Storage& shared) const {
    for (const size_t t : shared.tensors) {
      const PlannedTensor& tensor = plan_.tensors[t];
      if (tensor.is_retained ||
          tensor.upper_step > static_cast<int64_t>(s) + 1) {
        return false;
      }
    }
    return true;
  }

  bool NoOtherOperandSuffers(size_t s, const TensorUse& written,
                             const Storage& shared, bool same_bytes) const {
    for (const TensorUse& use : plan_.steps[s].uses) {
      if (use.operand == written.operand ||
          &plan_.storages[plan_.tensors[use.tensor].storage] != &shared) {
        continue;
      }
      if (use.written && !same_bytes) return false;
      if (!same_bytes && !IsAllowed(s, written.operand, use.operand)) {
        return false;
      }
    }
    return true;
  }

  void Merge(size_t written, size_t read) {
    Storage& from = plan_.storages[plan_.tensors[written].storage];
    Storage& to = plan_.storages[plan_.tensors[read].storage];
    plan_.tensors[written].storage = plan_.tensors[read].storage;
    if (from.storage_class == StorageClass::kFixed) {
      to.storage_class = StorageClass::kFixed;
    }
    to.lower_step = std::min(to.lower_step, from.lower_step);
    to.upper_step = std::max(to.upper_step, from.upper_step);
    to.tensors.push_back(written);
    from.tensors.clear();
  }

  ExecutionPlan& plan_;
};

// Places the storages of a class one after the other. They never share memory,
// since each is needed as long as the class.
absl::Status PlaceSideBySide(StorageClass storage_class, int64_t alignment,
                             std::vector<Storage>* storages, int64_t* bytes) {
  *bytes = 0;
  for (Storage& storage : *storages) {
    if (storage.storage_class != storage_class) continue;
    storage.offset_bytes = AlignUp(*bytes, alignment);
    if (storage.size_bytes > INT64_MAX / 4 - storage.offset_bytes) {
      return absl::OutOfRangeError("the tensors need more than 2^61 bytes");
    }
    *bytes = storage.offset_bytes + storage.size_bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AssignStorages(const MemoryOptions& options, ExecutionPlan* plan) {
  StorageSharing sharing(plan);
  sharing.OneEach();
  if (options.in_place) sharing.Share();
  sharing.DropEmpty();
  absl::Status status =
      PlaceSideBySide(StorageClass::kModel, options.alignment_bytes,
                      &plan->storages, &plan->model_bytes);
  if (!status.ok()) return status;
  return PlaceSideBySide(StorageClass::kFixed, options.alignment_bytes,
                         &plan->storages, &plan->fixed_bytes);
}

}  // namespace footprint

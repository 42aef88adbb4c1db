#include "footprint/trainer_manager/execution/storage_sharing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

StorageClass FindClass(TensorKind kind, const StepGraph& graph) {
  switch (kind) {
    case TensorKind::kWeight:
    case TensorKind::kRunningStatistic:
      return StorageClass::kModel;
    case TensorKind::kInput:
    case TensorKind::kLabel:
      return graph.mode == NetworkMode::kInference ? StorageClass::kUser
                                                   : StorageClass::kFixed;
    case TensorKind::kStatisticCopy:
      // The first micro-batch makes the copy, and the last one may need it.
      return graph.micro_batches > 1 ? StorageClass::kFixed
                                     : StorageClass::kArena;
    case TensorKind::kOptimizerState:
    case TensorKind::kGradientSum:
    case TensorKind::kOutput:
      return StorageClass::kFixed;
    default:
      return StorageClass::kArena;
  }
}

// Returns the bytes of the storages of a class that lie one after the other.
// They never share memory, since each is needed as long as the class.
absl::StatusOr<int64_t> CountSideBySide(const std::vector<Storage>& storages,
                                        StorageClass storage_class,
                                        int64_t alignment) {
  int64_t bytes = 0;
  for (const Storage& storage : storages) {
    if (storage.storage_class != storage_class) continue;
    bytes = AlignUp(bytes, alignment);
    if (storage.size_bytes > INT64_MAX / 4 - bytes) {
      return absl::OutOfRangeError("the tensors need more than 2^61 bytes");
    }
    bytes += storage.size_bytes;
  }
  return bytes;
}

// Lets tensors share a storage if a step may overwrite a tensor that it reads.
class StorageSharing {
 public:
  // Begins with one storage for each tensor.
  explicit StorageSharing(StepGraph graph) : graph_(std::move(graph)) {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const PlannedTensor& tensor = graph_.tensors[t];
      storage_of_.push_back(t);
      storages_.push_back({FindClass(tensor.kind, graph_),
                           tensor.size_bytes,
                           tensor.lower_step,
                           tensor.upper_step,
                           {t}});
    }
  }

  void Share() {
    for (size_t s = 0; s < graph_.steps.size(); ++s) {
      for (const InPlace& in_place : graph_.steps[s].in_place) {
        const TensorUse* written = Find(s, in_place.written);
        const TensorUse* read = Find(s, in_place.read);
        if (written == nullptr || read == nullptr) continue;
        if (IsLegal(s, *written, *read, in_place.same_bytes)) {
          Merge(written->tensor, read->tensor);
        }
      }
    }
  }

  // Returns the graph with the storages that still hold a tensor.
  absl::StatusOr<StorageGraph> Finish(int64_t alignment) {
    std::vector<Storage> left;
    for (Storage& storage : storages_) {
      if (storage.tensors.empty()) continue;
      for (const size_t t : storage.tensors) storage_of_[t] = left.size();
      left.push_back(std::move(storage));
    }
    const auto model_bytes =
        CountSideBySide(left, StorageClass::kModel, alignment);
    if (!model_bytes.ok()) return model_bytes.status();
    const auto fixed_bytes =
        CountSideBySide(left, StorageClass::kFixed, alignment);
    if (!fixed_bytes.ok()) return fixed_bytes.status();
    return StorageGraph{std::move(graph_), std::move(storage_of_),
                        std::move(left), *model_bytes, *fixed_bytes};
  }

 private:
  const TensorUse* Find(size_t s, const Operand& operand) const {
    for (const TensorUse& use : graph_.steps[s].uses) {
      if (use.operand == operand) return &use;
    }
    return nullptr;
  }

  // Returns whether the step allows `written` to take the place of `read`.
  bool IsAllowed(size_t s, const Operand& written, const Operand& read) const {
    for (const InPlace& in_place : graph_.steps[s].in_place) {
      if (in_place.written == written && in_place.read == read) return true;
    }
    return false;
  }

  // Returns whether `written` may take the storage of `read`: `written` begins
  // in this step, has a storage of the same size to itself, and nothing reads
  // the old bytes later, unless the step leaves the same bytes.
  bool IsLegal(size_t s, const TensorUse& written, const TensorUse& read,
               bool same_bytes) const {
    const PlannedTensor& target = graph_.tensors[written.tensor];
    const Storage& own = StorageOf(written.tensor);
    const Storage& shared = StorageOf(read.tensor);
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
      const PlannedTensor& tensor = graph_.tensors[t];
      if (tensor.is_retained ||
          tensor.upper_step > static_cast<int64_t>(s) + 1) {
        return false;
      }
    }
    return true;
  }

  bool NoOtherOperandSuffers(size_t s, const TensorUse& written,
                             const Storage& shared, bool same_bytes) const {
    for (const TensorUse& use : graph_.steps[s].uses) {
      if (use.operand == written.operand || &StorageOf(use.tensor) != &shared) {
        continue;
      }
      if (use.written && !same_bytes) return false;
      if (!same_bytes && !IsAllowed(s, written.operand, use.operand)) {
        return false;
      }
    }
    return true;
  }

  const Storage& StorageOf(size_t tensor) const {
    return storages_[storage_of_[tensor]];
  }

  void Merge(size_t written, size_t read) {
    Storage& from = storages_[storage_of_[written]];
    Storage& to = storages_[storage_of_[read]];
    storage_of_[written] = storage_of_[read];
    if (from.storage_class == StorageClass::kFixed) {
      to.storage_class = StorageClass::kFixed;
    }
    to.lower_step = std::min(to.lower_step, from.lower_step);
    to.upper_step = std::max(to.upper_step, from.upper_step);
    to.tensors.push_back(written);
    from.tensors.clear();
  }

  StepGraph graph_;
  std::vector<size_t> storage_of_;  // of each tensor
  std::vector<Storage> storages_;
};

}  // namespace

absl::StatusOr<StorageGraph> AssignStorages(StepGraph steps,
                                            const MemoryOptions& options) {
  StorageSharing sharing(std::move(steps));
  if (options.in_place) sharing.Share();
  return sharing.Finish(options.alignment_bytes);
}

}  // namespace footprint

#include "footprint/base/tensor/tensor_index.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"

namespace footprint {

absl::Status TensorIndex::SortByName() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::sort(by_name_.begin(), by_name_.end(), [this](int32_t a, int32_t b) {
    const int order = tensors_[a].name.compare(tensors_[b].name);
    return order != 0 ? order < 0
                      : tensors_[a].offset_bytes < tensors_[b].offset_bytes;
  });
  for (size_t i = 1; i < by_name_.size(); ++i) {
    const TensorInfo& tensor = tensors_[by_name_[i]];
    if (tensor.name != tensors_[by_name_[i - 1]].name) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file_name_, ": the tensor \"", tensor.name,
                     "\" occurs twice, the second at byte ",
                     tensor.offset_bytes, ": export the file again"));
  }
  return absl::OkStatus();
}

const TensorInfo* TensorIndex::FindOrNull(absl::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [this](int32_t position, absl::string_view wanted) {
                         return tensors_[position].name < wanted;
                       });
  if (found == by_name_.end() || tensors_[*found].name != name) return nullptr;
  return &tensors_[*found];
}

absl::StatusOr<const TensorInfo*> TensorIndex::Find(
    absl::string_view name) const {
  const TensorInfo* tensor = FindOrNull(name);
  if (tensor != nullptr) return tensor;
  std::vector<absl::string_view> names;
  for (const TensorInfo& other : tensors_) names.push_back(other.name);
  return absl::NotFoundError(absl::StrCat(file_name_, ": no tensor \"", name,
                                          "\" among ", tensors_.size(),
                                          NearNamesText(name, names)));
}

}  // namespace footprint

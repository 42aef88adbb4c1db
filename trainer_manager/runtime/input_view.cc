#include "footprint/trainer_manager/runtime/input_view.h"

#include "absl/strings/str_cat.h"

namespace footprint {

absl::Status CheckInputView(absl::string_view what, size_t index,
                            const TensorType& spec, int64_t parts,
                            const InputView& values) {
  const int64_t elements = spec.shape.elements() * parts;
  if (spec.type != values.type() ||
      static_cast<int64_t>(values.size()) != elements) {
    Shape whole = spec.shape;
    if (whole.rank() > 0) whole.set_extent(0, whole.extent(0) * parts);
    return absl::InvalidArgumentError(absl::StrCat(
        what, " ", index, " takes ", elements, " ", DTypeName(spec.type),
        " values of shape ", whole.ToString(), ", not ", values.size(), " ",
        DTypeName(values.type())));
  }
  if (values.data() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", index, " lies at a null address"));
  }
  const auto address = reinterpret_cast<uintptr_t>(values.data());
  const auto value_bytes = static_cast<uintptr_t>(DTypeBytes(spec.type));
  if (address % value_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", index, " lies ", address % value_bytes,
                     " bytes behind a multiple of ", value_bytes,
                     "; values must be aligned to their size"));
  }
  return absl::OkStatus();
}

}  // namespace footprint

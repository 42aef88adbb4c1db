// The values of an input or a label, lent for a call: floats or int32.
//
//   const std::vector<float> row(13);
//   absl::Status status = manager->Infer({footprint::InputView(row)});
//
// A view keeps the address of the values, which must outlive it. It takes 24
// bytes and is passed by value. Thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_INPUT_VIEW_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_INPUT_VIEW_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/layers/tensor_type.h"

namespace footprint {

class InputView {
 public:
  InputView(absl::Span<const float> values)  // NOLINT: converts
      : data_(values.data()), size_(values.size()), type_(DType::kF32) {}
  InputView(absl::Span<const int32_t> values)  // NOLINT: converts
      : data_(values.data()), size_(values.size()), type_(DType::kI32) {}

  const void* data() const { return data_; }
  size_t size() const { return size_; }
  DType type() const { return type_; }

 private:
  const void* data_;
  size_t size_;
  DType type_;
};

// Returns InvalidArgument if the number or type of the values does not suit a
// buffer of `parts` tensors of that type, or if the address is null or not
// aligned. `what` and `index` name the buffer in the message.
absl::Status CheckInputView(absl::string_view what, size_t index,
                            const TensorType& spec, int64_t parts,
                            const InputView& values);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_INPUT_VIEW_H_

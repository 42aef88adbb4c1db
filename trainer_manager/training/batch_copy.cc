#include "footprint/trainer_manager/training/batch_copy.h"

#include <cstdint>

#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/layers/tensor_type.h"

namespace footprint {

BatchCopy::BatchCopy(const ExecutionPlan& plan) {
  std::vector<size_t> tensors = plan.input_tensors;
  tensors.push_back(plan.label_tensors[0]);
  for (const size_t tensor : tensors) {
    const TensorType& spec = plan.tensors[tensor].spec;
    values_.emplace_back(
        static_cast<size_t>(spec.shape.elements() * plan.micro_batches));
    parts_.push_back({values_.back().data(), values_.back().size(), spec.type});
  }
}

InputView BatchCopy::View(size_t part) const {
  const DataSet::Part& values = parts_[part];
  if (values.type == DType::kI32)
    return absl::Span<const int32_t>(values.Indices());
  return absl::Span<const float>(values.Floats());
}

}  // namespace footprint

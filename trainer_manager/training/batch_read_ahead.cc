#include "footprint/trainer_manager/training/batch_read_ahead.h"

#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/training/data_set.h"

namespace footprint {
namespace {

absl::Status SetBatch(const BatchCopy& batch, Manager* manager) {
  absl::Status status;
  for (size_t i = 0; status.ok() && i < batch.size(); ++i) {
    const auto set = [&](auto values) {
      return i + 1 < batch.size() ? manager->SetInput(i, values)
                                  : manager->SetLabel(values);
    };
    const DataSet::Part& part = batch.parts()[i];
    status = part.type == DType::kI32
                 ? set(absl::Span<const int32_t>(part.Indices()))
                 : set(absl::Span<const float>(part.Floats()));
  }
  return status;
}

}  // namespace

BatchReadAhead::BatchReadAhead(const ExecutionPlan& plan, BatchLoader loader,
                               int64_t steps)
    : loader_(std::move(loader)), batch_(plan), steps_(steps) {}

void BatchReadAhead::Begin(int64_t step) {
  step_ = step;
  read_ = std::async(std::launch::async, [this, step] {
    return loader_.FillParts(step, batch_.parts());
  });
}

absl::Status BatchReadAhead::Fill(int64_t step, Manager* manager) {
  if (step != step_) {
    if (read_.valid()) read_.wait();
    Begin(step);
  }
  step_ = -1;
  absl::Status status = read_.get();
  if (status.ok()) status = SetBatch(batch_, manager);
  if (status.ok() && step + 1 < steps_) Begin(step + 1);
  return status;
}

}  // namespace footprint

#include "footprint/trainer_manager/training/data_set.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// Returns the tensors of a batch: inputs, then the label.
std::vector<const PlannedTensor*> BatchTensors(const ExecutionPlan& plan) {
  std::vector<const PlannedTensor*> tensors;
  for (const size_t t : plan.input_tensors) tensors.push_back(&plan.tensors[t]);
  for (const size_t t : plan.label_tensors) tensors.push_back(&plan.tensors[t]);
  return tensors;
}

template <typename Value>
absl::Span<Value> ValuesOf(const DataSet::Part& part, DType type) {
  if (part.type != type) return {};
  return absl::MakeSpan(static_cast<Value*>(part.data), part.size);
}

}  // namespace

absl::Span<float> DataSet::Part::Floats() const {
  return ValuesOf<float>(*this, DType::kF32);
}
absl::Span<int32_t> DataSet::Part::Indices() const {
  return ValuesOf<int32_t>(*this, DType::kI32);
}

DataSet DataSet::InMemory(std::vector<InputView> inputs, InputView labels,
                          int64_t rows) {
  DataSet data(rows);
  data.parts_ = std::move(inputs);
  data.parts_.push_back(labels);
  return data;
}

DataSet DataSet::ReadBy(int64_t rows, ReadRow read) {
  DataSet data(rows);
  data.read_ = std::move(read);
  return data;
}

absl::Status DataSet::CheckFits(const ExecutionPlan& plan) const {
  if (rows_ < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data set has ", rows_, " rows; it needs 1 at least"));
  }
  const std::vector<const PlannedTensor*> tensors = BatchTensors(plan);
  for (const PlannedTensor* tensor : tensors) {
    if (tensor->spec.shape.rank() > 0 &&
        tensor->spec.shape.extent(0) * plan.micro_batches ==
            PlannedRows(plan)) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", tensor->name, "\" of shape ", tensor->spec.shape.ToString(),
        " has no row for each row of \"", tensors[0]->name, "\""));
  }
  if (!is_in_memory()) return absl::OkStatus();
  if (parts_.empty()) {
    return absl::InvalidArgumentError(
        "the data set has no values and no function that reads them: give "
        "ReadBy a function");
  }
  if (parts_.size() != tensors.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the data set has ", parts_.size() - 1, " inputs, but the network has ",
        plan.input_tensors.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorType row = tensors[i]->spec;
    row.shape.set_extent(0, 1);
    const bool is_label = i + 1 == tensors.size();
    const absl::Status status = CheckInputView(
        is_label ? "the data set's label" : "the data set's input",
        is_label ? 0 : i, row, rows_, parts_[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DataSet::Read(int64_t row, absl::Span<const Part> parts) const {
  if (!is_in_memory()) {
    const absl::Status status = read_(row, parts);
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("row ", row,
                                                    " of the data "
                                                    "set: ",
                                                    status.message()));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const InputView view = View(i, row, 1);
    std::memcpy(parts[i].data, view.data(),
                view.size() * static_cast<size_t>(DTypeBytes(view.type())));
  }
  return absl::OkStatus();
}

InputView DataSet::View(size_t part, int64_t first, int64_t count) const {
  const InputView& all = parts_[part];
  const size_t size = all.size() / static_cast<size_t>(rows_);
  const size_t begin = static_cast<size_t>(first) * size;
  const size_t values = static_cast<size_t>(count) * size;
  if (all.type() == DType::kI32) {
    return absl::MakeConstSpan(static_cast<const int32_t*>(all.data()) + begin,
                               values);
  }
  return absl::MakeConstSpan(static_cast<const float*>(all.data()) + begin,
                             values);
}

int64_t PlannedRows(const ExecutionPlan& plan) {
  return plan.tensors[plan.input_tensors[0]].spec.shape.extent(0) *
         plan.micro_batches;
}

}  // namespace footprint

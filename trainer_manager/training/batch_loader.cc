#include "footprint/trainer_manager/training/batch_loader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {
namespace {

using Part = DataSet::Part;

// Returns the part of one of `rows` rows.
Part RowOf(const Part& whole, int64_t rows, int64_t row) {
  Part part = whole;
  part.size = whole.size / static_cast<size_t>(rows);
  part.data = static_cast<char*>(whole.data) +
              static_cast<size_t>(row) * part.size *
                  static_cast<size_t>(DTypeBytes(part.type));
  return part;
}

template <typename Value>
Part PartOf(absl::Span<Value> values, DType type) {
  return {values.data(), values.size(), type};
}

// Returns the part that holds the manager's values. `floats` and `indices` find
// values of the two types.
template <typename FindFloats, typename FindIndices>
absl::StatusOr<Part> FindPart(DType type, const FindFloats& floats,
                              const FindIndices& indices) {
  if (type == DType::kI32) {
    const absl::StatusOr<absl::Span<int32_t>> values = indices();
    if (!values.ok()) return values.status();
    return PartOf(*values, type);
  }
  const absl::StatusOr<absl::Span<float>> values = floats();
  if (!values.ok()) return values.status();
  return PartOf(*values, type);
}

}  // namespace

BatchLoader::BatchLoader(const ExecutionPlan& plan, const DataSet& data,
                         const LoaderOptions& options)
    : data_(data),
      options_(options),
      planned_rows_(PlannedRows(plan)),
      micro_batches_(plan.micro_batches),
      label_type_(plan.tensors[plan.label_tensors[0]].spec.type) {
  for (const size_t input : plan.input_tensors) {
    input_types_.push_back(plan.tensors[input].spec.type);
  }
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    if (layer.is_loss()) ignored_label_ = layer.signature.ignored_label;
  }
}

absl::StatusOr<BatchLoader> BatchLoader::Create(const ExecutionPlan& plan,
                                                const DataSet& data,
                                                const LoaderOptions& options) {
  if (plan.label_tensors.empty() || plan.input_tensors.empty()) {
    return absl::InvalidArgumentError(
        "the plan has no input or no loss: plan a training, or an inference "
        "with MemoryOptions::keep_loss");
  }
  absl::Status status = data.CheckFits(plan);
  if (!status.ok()) return status;
  BatchLoader loader(plan, data, options);
  if (loader.batches() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data set has ", data.rows(),
                     " rows, fewer than a batch of ", loader.planned_rows_,
                     ", and drop_last leaves them out: plan for fewer "
                     "rows, or do not set drop_last"));
  }
  status = loader.CheckShortBatch(plan);
  if (!status.ok()) return status;
  return loader;
}

absl::Status BatchLoader::CheckShortBatch(const ExecutionPlan& plan) const {
  const int64_t rows = RowsOf(batches() - 1);
  if (rows == planned_rows_) return absl::OkStatus();
  // An evaluation cannot leave rows out.
  const std::string fewer_rows =
      plan.mode == NetworkMode::kTraining
          ? "set drop_last"
          : absl::StrCat("give it rows that batches of ", planned_rows_,
                         " divide");
  const auto refuse = [&](const std::string& why, absl::string_view remedy) {
    return absl::InvalidArgumentError(
        absl::StrCat("the last batch has ", rows, " rows of ", planned_rows_,
                     ", but ", why, ": ", remedy, fewer_rows));
  };
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    if (layer.is_loss() && !ignored_label_) {
      return refuse(
          absl::StrCat("the loss \"", layer.name, "\" ignores no label"),
          "give it an ignored_label, or ");
    }
    if (plan.mode == NetworkMode::kTraining && layer.depends_on_batch()) {
      return refuse(
          absl::StrCat("layer \"", layer.name,
                       "\" takes statistics of the "
                       "whole batch, in which the places that are left would "
                       "count"),
          "plan a batch that divides the rows, or ");
    }
  }
  if (rows >= micro_batches_) return absl::OkStatus();
  return refuse(absl::StrCat("there are ", micro_batches_, " micro-batches"),
                "plan fewer, or ");
}

int64_t BatchLoader::batches() const {
  const int64_t rows = data_.rows();
  const bool has_short = !options_.drop_last && rows % planned_rows_ != 0;
  return rows / planned_rows_ + (has_short ? 1 : 0);
}

int64_t BatchLoader::RowsOf(int64_t batch) const {
  return std::min(planned_rows_, data_.rows() - batch * planned_rows_);
}

// Shuffles by Fisher and Yates, from the same initial order in each epoch.
void BatchLoader::OrderEpoch(int64_t epoch) {
  if (!options_.shuffle || epoch == epoch_) return;
  order_.resize(static_cast<size_t>(data_.rows()));
  for (size_t i = 0; i < order_.size(); ++i) {
    order_[i] = static_cast<int64_t>(i);
  }
  RandomSequence random(
      RandomAt(options_.seed, static_cast<uint64_t>(epoch) + 1));
  for (size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[random.Below(i)]);
  }
  epoch_ = epoch;
}

int64_t BatchLoader::RowAt(int64_t place) const {
  return order_.empty() ? place : order_[static_cast<size_t>(place)];
}

std::string BatchLoader::DescribeRows(int64_t step) {
  OrderEpoch(step / batches());
  const int64_t batch = step % batches();
  const int64_t first = batch * planned_rows_;
  const int64_t rows = RowsOf(batch);
  if (order_.empty()) {
    return absl::StrCat("rows ", first, " to ", first + rows - 1,
                        " of the data set");
  }
  return absl::StrCat(
      "rows ",
      absl::StrJoin(absl::MakeConstSpan(order_).subspan(
                        static_cast<size_t>(first), static_cast<size_t>(rows)),
                    ", "),
      " of the data set");
}

void BatchLoader::Ignore(const Part& label) const {
  for (int32_t& value : label.Indices()) {
    value = static_cast<int32_t>(*ignored_label_);
  }
  for (float& value : label.Floats()) value = *ignored_label_;
}

absl::Status BatchLoader::Fill(int64_t step, Manager* manager) {
  std::vector<Part> parts;
  for (size_t i = 0; i < input_types_.size(); ++i) {
    const auto part = FindPart(
        input_types_[i], [&] { return manager->InputValues(i); },
        [&] { return manager->InputValues<int32_t>(i); });
    if (!part.ok()) return part.status();
    parts.push_back(*part);
  }
  const auto label = FindPart(
      label_type_, [&] { return manager->LabelValues(); },
      [&] { return manager->LabelValues<int32_t>(); });
  if (!label.ok()) return label.status();
  parts.push_back(*label);
  return FillParts(step, parts);
}

absl::Status BatchLoader::FillParts(int64_t step,
                                    absl::Span<const Part> parts) {
  const int64_t batch = step % batches();
  OrderEpoch(step / batches());
  const int64_t rows = RowsOf(batch);
  const int64_t planned_in_part = planned_rows_ / micro_batches_;
  int64_t next = batch * planned_rows_;
  std::vector<Part> row_parts(parts.size());
  for (int64_t m = 0; m < micro_batches_; ++m) {
    const int64_t rows_in_part =
        rows / micro_batches_ + (m < rows % micro_batches_ ? 1 : 0);
    for (int64_t r = 0; r < planned_in_part; ++r) {
      for (size_t i = 0; i < parts.size(); ++i) {
        row_parts[i] = RowOf(parts[i], planned_rows_, m * planned_in_part + r);
      }
      if (r < rows_in_part) {
        const absl::Status status = data_.Read(RowAt(next++), row_parts);
        if (!status.ok()) return status;
        continue;
      }
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        std::memcpy(row_parts[i].data, parts[i].data,
                    row_parts[i].size *
                        static_cast<size_t>(DTypeBytes(row_parts[i].type)));
      }
      Ignore(row_parts.back());
    }
  }
  return absl::OkStatus();
}

}  // namespace footprint

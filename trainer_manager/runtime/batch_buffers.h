// Inputs, labels and outputs of a running plan: set or lent by the caller, and
// read by it.
//
//   footprint::BatchBuffers buffers(plan, table, /*watch_lent=*/false);
//   status = buffers.Set(footprint::BatchPart::kInput, 0, rows);
//   status = buffers.CheckBatch(&culprit);  // all set, to finite values?
//
// In training inputs and labels are in the table's memory, with all
// micro-batches one after the other; in inference they are the caller's, lent
// for a call. Keeps addresses of the table, which must outlive it and stay;
// nothing of the plan. Thread-compatible. Memory: 16 bytes a buffer, 8 or 16
// one that is lent.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_BATCH_BUFFERS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_BATCH_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/runtime/input_view.h"
#include "footprint/trainer_manager/runtime/step_table.h"

namespace footprint {

enum class BatchPart { kInput, kLabel };

class BatchBuffers {
 public:
  // `watch_lent`: lent memory is compared before and after each step.
  BatchBuffers(const ExecutionPlan& plan, const StepTable& table,
               bool watch_lent);

  size_t input_count() const { return inputs_.size(); }
  // Returns the loss; null in inference without one.
  const float* loss() const { return loss_; }

  // Training: copies the values of the whole batch. InvalidArgument: there is
  // no such buffer, or it takes others; see CheckInputView.
  absl::Status Set(BatchPart part, size_t index, InputView values);

  // Training: where the values of the whole batch lie, which count as set.
  // InvalidArgument: there is no such buffer, or one of another type. For float
  // and int32_t.
  template <typename Value>
  absl::StatusOr<absl::Span<Value>> ValuesToFill(BatchPart part, size_t index);

  // Training. FailedPrecondition: an input or the label was never set.
  // OutOfRange: a value is NaN or infinite; `culprit` is the buffer then.
  absl::Status CheckBatch(const void** culprit) const;

  // Training: returns the weight of a micro-batch: the number of its labels
  // that count, divided by the mean of these numbers over all micro-batches. It
  // is 1 unless the loss ignores a label.
  double WeighMicroBatch(int64_t micro_batch) const;

  // Inference: takes the addresses of all inputs, or of the label.
  // InvalidArgument: see CheckInputView. FailedPrecondition, if it is watched:
  // it is no memory of the program.
  absl::Status LendInputs(absl::Span<const InputView> inputs);
  absl::Status LendLabel(InputView label);
  absl::Span<const void* const> lent() const { return lent_; }

  // Fails if what is lent is watched and one of the operands changed.
  // FailedPrecondition: one of the operands changed or was released since it
  // was lent; `layer` is named.
  absl::Status CheckUnchanged(absl::Span<const StepData::Slot> slots,
                              const LayerName& layer) const;

  // InvalidArgument: no such output is kept.
  absl::StatusOr<absl::Span<const float>> Output(size_t index) const;
  // Returns which output is NaN or infinite, as text; empty if none is.
  std::string FirstOutputNotFinite() const;

 private:
  struct Buffer {
    char* data;  // null: the caller's
    uint32_t spec;
    bool is_set;
  };

  const TensorType& SpecAt(const Buffer& buffer) const {
    return specs_[buffer.spec];
  }
  std::vector<Buffer>& FindBuffers(BatchPart part) {
    return part == BatchPart::kInput ? inputs_ : labels_;
  }
  absl::Status CheckData(const Buffer& buffer, BatchPart part, size_t index,
                         const void** culprit) const;
  const Buffer& LentBuffer(size_t index) const;
  absl::Status Lend(size_t index, InputView values);

  absl::Span<const TensorType> specs_;  // the table's
  std::vector<Buffer> inputs_;
  std::vector<Buffer> labels_;
  std::vector<Buffer> outputs_;
  std::vector<const void*> lent_;       // inputs, then the label, with a loss
  std::vector<uint64_t> fingerprints_;  // of them, if they are watched
  const float* loss_ = nullptr;
  int64_t micro_batches_;
  absl::optional<float> ignored_label_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_BATCH_BUFFERS_H_

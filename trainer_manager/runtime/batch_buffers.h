// The inputs, labels and outputs of a running plan, which the caller sets,
// lends and reads.
//
//   footprint::BatchBuffers buffers(plan, table, /*watch_lent=*/false);
//   status = buffers.Set(footprint::BatchPart::kInput, 0, rows);
//   status = buffers.CheckBatch(&culprit);  // all set, to finite values?
//
// In training, inputs and labels are in the table's memory, with all
// micro-batches one after the other. In inference the caller lends its own
// memory for a call. Keeps addresses of the table, which must outlive it and
// must not move; keeps nothing of the plan. Thread-compatible. Memory: 16 bytes
// a buffer, and 8 or 16 more if it is lent.

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
  // With `watch_lent`, CheckUnchanged compares lent memory with its
  // fingerprint.
  BatchBuffers(const ExecutionPlan& plan, const StepTable& table,
               bool watch_lent);

  size_t input_count() const { return inputs_.size(); }
  // Returns the loss, or null in an inference without one.
  const float* loss() const { return loss_; }

  // For training: copies the values of the whole batch. Returns InvalidArgument
  // if there is no such buffer or the values do not suit it; see
  // CheckInputView.
  absl::Status Set(BatchPart part, size_t index, InputView values);

  // For training: returns the memory of the whole batch's values, which count
  // as set from then on. Returns InvalidArgument if there is no such buffer, or
  // if it has another type. `Value` is float or int32_t.
  template <typename Value>
  absl::StatusOr<absl::Span<Value>> ValuesToFill(BatchPart part, size_t index);

  // For training. Returns FailedPrecondition if an input or the label was never
  // set. Returns OutOfRange if a value is NaN or infinite; `culprit` is then
  // its buffer.
  absl::Status CheckBatch(const void** culprit) const;

  // For training: returns the weight of a micro-batch, which is the number of
  // its labels that count, divided by the mean of these numbers over all
  // micro-batches. It is 1 if the loss ignores no label, and if all labels are
  // ignored.
  double WeighMicroBatch(int64_t micro_batch) const;

  // For inference: these take the addresses of all inputs, or of the label.
  // They return InvalidArgument if the number of inputs differs, the errors of
  // CheckInputView and, with watch_lent, FailedPrecondition if the address is
  // not memory of the program.
  absl::Status LendInputs(absl::Span<const InputView> inputs);
  absl::Status LendLabel(InputView label);
  absl::Span<const void* const> lent() const { return lent_; }

  // Returns FailedPrecondition if lent memory is watched and one of the
  // operands changed or was released since it was lent; the message names
  // `layer`. Otherwise returns OK.
  absl::Status CheckUnchanged(absl::Span<const StepData::Slot> slots,
                              const LayerName& layer) const;

  // Returns an output. Returns InvalidArgument if no such output is kept.
  absl::StatusOr<absl::Span<const float>> Output(size_t index) const;
  // Returns a text that names an output with NaN or infinity, or an empty text.
  std::string FirstOutputNotFinite() const;

 private:
  struct Buffer {
    char* data;  // null: lent by the caller
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
  std::vector<const void*> lent_;  // inputs, then the label if there is a loss
  std::vector<uint64_t> fingerprints_;  // of lent memory, if it is watched
  const float* loss_ = nullptr;
  int64_t micro_batches_;
  absl::optional<float> ignored_label_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_BATCH_BUFFERS_H_

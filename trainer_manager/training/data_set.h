// The rows of a data set, which are in the caller's memory or are read by a
// function when they are needed.
//
//   auto data = footprint::DataSet::InMemory({pixels}, labels, /*rows=*/1437);
//   auto read = footprint::DataSet::ReadBy(1437, [&](int64_t row, auto parts) {
//     std::copy_n(&pixels[row * 64], 64, parts[0].Floats().begin());
//     parts[1].Indices()[0] = labels[row];
//     return absl::OkStatus();
//   });
//
// Refers to the memory and copies the function; neither is used by more than
// one thread at a time. Thread-compatible. Memory: some words.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_DATA_SET_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_DATA_SET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/input_view.h"

namespace footprint {

class DataSet {
 public:
  // The memory of one row of an input or of the label.
  struct Part {
    void* data = nullptr;
    size_t size = 0;  // in values
    DType type = DType::kF32;

    // Returns the values to write; empty if the part has the other type.
    absl::Span<float> Floats() const;
    absl::Span<int32_t> Indices() const;
  };

  // Writes a row: one part for each input of the network, then the label. An
  // error ends the training, with the row's number before it.
  using ReadRow =
      std::function<absl::Status(int64_t row, absl::Span<const Part> parts)>;

  // Makes a data set of values in memory, one row after the other: one view for
  // each input of the network, and the labels. The memory must outlive each
  // use.
  static DataSet InMemory(std::vector<InputView> inputs, InputView labels,
                          int64_t rows);
  // Makes a data set whose rows `read` writes when they are needed.
  static DataSet ReadBy(int64_t rows, ReadRow read);

  int64_t rows() const { return rows_; }
  bool is_in_memory() const { return read_ == nullptr; }

  // Returns InvalidArgument if the data set does not suit the planned network:
  // it has no rows, or the network's inputs and labels have batches of
  // different sizes. Returns InvalidArgument also if a data set in memory has
  // another number of inputs or of values, another type, or a null or unaligned
  // address, or if ReadBy got no function. The plan must have an input and a
  // loss.
  absl::Status CheckFits(const ExecutionPlan& plan) const;

  // Writes a row to the parts of a plan that CheckFits accepted. Errors: those
  // of the function, with the row's number before the message.
  absl::Status Read(int64_t row, absl::Span<const Part> parts) const;

  // Returns `count` rows of a part from row `first` on; only for a data set in
  // memory. Parts are the inputs, then the labels.
  InputView View(size_t part, int64_t first, int64_t count) const;

 private:
  explicit DataSet(int64_t rows) : rows_(rows) {}

  int64_t rows_;
  std::vector<InputView> parts_;  // inputs, then labels
  ReadRow read_;
};

// Returns the rows that a batch of the plan has, all micro-batches together.
int64_t PlannedRows(const ExecutionPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_DATA_SET_H_

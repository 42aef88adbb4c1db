// The steps of a plan in the form that a manager keeps: their operands and the
// addresses of these.
//
//   auto table = footprint::StepTable::Create(*plan, *parameters);
//   footprint::StepTable::Memory memory;
//   memory.arena = arena.data();
//   for (const footprint::StepTable::Step& step : table->steps()) {
//     absl::Span<const StepData::Slot> slots = table->SlotsAt(step, memory);
//     ...
//   }
//
// Owns the plan's fixed tensors, which begin as zeros, and keeps its records
// after them in the same block: for a small network they cost little more than
// the block's rounding. Keeps addresses of the parameters, which must outlive
// it, but nothing of the plan. Thread-compatible. Memory: the plan's
// fixed_bytes, 8 bytes for each operand of a step, 16 for each step and tensor,
// and 48 for each shape.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_TABLE_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/memory/memory_block.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

class StepTable {
 public:
  struct Step {
    uint32_t layer;
    // A second number, whose meaning depends on the kind. A sliced derivative:
    // the layer before. A swap: its piece, in the order in which pieces are
    // written. A step that reads weights: the number of operands that earlier
    // ones read, in which a step that reads rows counts as one. A
    // recomputation: the forward step whose output it repeats. A forward step
    // with a recomputation: the output's fingerprint (set_output_print), or 1
    // before there is one. Any other step: 0.
    uint32_t other;
    uint32_t first_use;
    uint16_t uses;
    StepKind kind;
  };

  // Memory outside the table that a step works on.
  struct Memory {
    char* arena = nullptr;
    // The caller's memory in inference: inputs, then the label if there is a
    // loss.
    absl::Span<const void* const> inputs;
    // The micro-batch, for inputs and labels that hold all of them.
    int64_t micro_batch = 0;
  };

  // Returns InvalidArgument if the parameters are not those of the plan, or if
  // a step has more than 65,535 operands. Returns ResourceExhausted if there is
  // no memory.
  static absl::StatusOr<StepTable> Create(const ExecutionPlan& plan,
                                          const Parameters& parameters);

  absl::Span<const Step> steps() const { return steps_; }

  // Keeps the fingerprint of a forward step's output for its recomputations.
  void set_output_print(const Step& step, uint32_t print) {
    steps_[static_cast<size_t>(&step - steps_.data())].other = print;
  }

  // Returns the operands of a step, valid until the next call.
  absl::Span<const StepData::Slot> SlotsAt(const Step& step,
                                           const Memory& memory);

  LayerName LayerNameAt(size_t layer) const { return {names_, layer}; }

  // These return the table's own copies of the tensor types, without
  // duplicates, and the index of a tensor's type among them.
  absl::Span<const TensorType> specs() const {
    return {specs_.get(), specs_.get_deleter().count};
  }
  uint32_t NumberSpec(const PlannedTensor& tensor) const;

  char* fixed() const { return block_.data(); }

 private:
  // The address of a tensor: an offset in its memory, the number of an input,
  // or the address of a parameter.
  struct Address {
    int64_t at;
    uint32_t spec;
    StorageClass storage_class;
    bool by_micro_batch;  // it holds all micro-batches, one after the other
  };
  struct Use {
    uint32_t address;
    uint16_t index;
    Role role;
    bool readable : 1;
    bool writable : 1;
  };
  // Destroys records without freeing their memory, which is the block's.
  struct EndSpecs {
    void operator()(TensorType* first) const { std::destroy_n(first, count); }
    size_t count;
  };
  // Counts and lists that are known before the records have an address.
  struct Draft;

  StepTable() = default;
  absl::Status Keep(const ExecutionPlan& plan, const Draft& draft);

  MemoryBlock block_;
  absl::Span<Step> steps_;
  absl::Span<const Use> uses_;
  absl::Span<const Address> addresses_;
  std::unique_ptr<TensorType[], EndSpecs> specs_;  // without duplicates
  absl::Span<StepData::Slot> slots_;               // of one step
  const char* names_ = nullptr;  // of layers; each ends with a 0
};

// Returns the address of a parameter of the plan. Returns InvalidArgument if
// there is none of its name, or if it has another shape.
absl::StatusOr<float*> LocateParameter(const PlannedTensor& tensor,
                                       const Parameters& parameters);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_TABLE_H_

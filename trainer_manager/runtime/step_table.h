// The steps of a plan as a manager keeps them: what each works on, and where
// that lies.
//
//   auto table = footprint::StepTable::Create(*plan, *parameters);
//   footprint::StepTable::Memory memory;
//   memory.arena = arena.data();
//   for (const footprint::StepTable::Step& step : table->steps()) {
//     absl::Span<const StepData::Slot> slots = table->SlotsAt(step, memory);
//     ...
//   }
//
// Owns the plan's fixed tensors, zeros at first, and keeps its records behind
// them, in one block: for a small network they cost little more than the
// block's rounding. Keeps addresses of the parameters, which must outlive it,
// but nothing of the plan. Thread-compatible. Memory: the plan's fixed_bytes,
// and 8 bytes an operand of a step, 16 a step and a tensor, 48 a shape.

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
    // A step is also about this: a sliced derivative about the layer before; a
    // swap about its piece, in the order in which pieces are written; a
    // recomputation about the forward step whose output it gives; such a
    // forward step about the output's fingerprint (set_output_print), 1 before
    // there is one; any other about 0.
    uint32_t other;
    uint32_t first_use;
    uint16_t uses;
    StepKind kind;
  };

  // Memory that lies elsewhere while a step runs.
  struct Memory {
    char* arena = nullptr;
    // The caller's, in inference: inputs, then the label if there is a loss.
    absl::Span<const void* const> inputs;
    // Which part of inputs and labels that hold all micro-batches.
    int64_t micro_batch = 0;
  };

  // InvalidArgument: the parameters are not those of the plan, or a layer has
  // more than 65,535 operands. ResourceExhausted: no memory.
  static absl::StatusOr<StepTable> Create(const ExecutionPlan& plan,
                                          const Parameters& parameters);

  absl::Span<const Step> steps() const { return steps_; }

  // Keeps what a forward step's output was, for its recomputations.
  void set_output_print(const Step& step, uint32_t print) {
    steps_[static_cast<size_t>(&step - steps_.data())].other = print;
  }

  // The operands of a step, valid until the next call.
  absl::Span<const StepData::Slot> SlotsAt(const Step& step,
                                           const Memory& memory);

  LayerName LayerNameAt(size_t layer) const { return {names_, layer}; }

  // The table's own copies of the types of tensors, each that occurs once; the
  // number of that of a tensor of the plan.
  absl::Span<const TensorType> specs() const {
    return {specs_.get(), specs_.get_deleter().count};
  }
  uint32_t NumberSpec(const PlannedTensor& tensor) const;

  char* fixed() const { return block_.data(); }

 private:
  // The place where a tensor lies: an offset in its memory, the number of an
  // input, or the address of a parameter.
  struct Address {
    int64_t at;
    uint32_t spec;
    StorageClass storage_class;
    bool by_micro_batch;  // it holds all of them, one after the other
  };
  struct Use {
    uint32_t address;
    uint16_t index;
    Role role;
    bool readable : 1;
    bool writable : 1;
  };
  // Ends records whose memory is the block's.
  struct EndSpecs {
    void operator()(TensorType* first) const { std::destroy_n(first, count); }
    size_t count;
  };
  // Figures and lists that are known before the records have an address.
  struct Draft;

  StepTable() = default;
  absl::Status Keep(const ExecutionPlan& plan, const Draft& draft);

  MemoryBlock block_;
  absl::Span<Step> steps_;
  absl::Span<const Use> uses_;
  absl::Span<const Address> addresses_;
  std::unique_ptr<TensorType[], EndSpecs> specs_;  // each that occurs once
  absl::Span<StepData::Slot> slots_;               // of one step
  const char* names_ = nullptr;                    // of layers; a 0 ends each
};

// Returns where a parameter of the plan lies. InvalidArgument: there is none of
// its name, or it has another shape.
absl::StatusOr<float*> LocateParameter(const PlannedTensor& tensor,
                                       const Parameters& parameters);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_TABLE_H_

// The weights and statistics of a model, which training changes and inference
// reads. Weights that a plan reads from their file
// (MemoryOptions::read_frozen_weights) are not among them.
//
//   auto parameters = footprint::Parameters::Create(plan, /*seed=*/1);
//   auto bias = (*parameters)->Find("hidden.bias");
//
// Owns one block of memory for all of them. The managers that train and infer
// with them share the block, and the last one frees it. Thread-compatible:
// training writes here. Memory: the plan's model_bytes and, in the same block,
// about 72 bytes and the name for each parameter.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETERS_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETERS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/memory/memory_block.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/tensor_type.h"

namespace footprint {

// Returns the index of the first value that is NaN or infinite, which every
// parameter refuses. If there is none and the name ends in ".variance", like
// that of a norm's running variance, returns the index of the first value below
// 0. Returns -1 if the parameter takes all values. Time: at most two passes.
int64_t FirstRefused(absl::string_view name, absl::Span<const float> values);

class Parameters {
 public:
  struct Parameter {
    absl::string_view name;  // "hidden.bias"
    Shape shape;
    absl::Span<float> values;
  };

  // A function that Create calls with each parameter, in the order of the
  // layers, once all hold their layers' initial values. It may write other
  // values.
  using Initialize = std::function<void(const Parameter&)>;

  // Initialises the parameters as the layers say, then by `initialize`, if
  // given. Equal seeds give equal values. Returns ResourceExhausted if there is
  // no memory. Returns InvalidArgument if the plan was edited, or if
  // `initialize` wrote NaN, infinity or a running variance below 0; the message
  // names the parameter.
  static absl::StatusOr<std::shared_ptr<Parameters>> Create(
      const ExecutionPlan& plan, uint64_t seed,
      const Initialize& initialize = nullptr);

  ~Parameters();

  // Returns the parameters in the order of the layers.
  absl::Span<const Parameter> all() const { return parameters_; }

  // Returns the values. Returns NotFound if there is no parameter of that name.
  // Time: linear in the parameters.
  absl::StatusOr<absl::Span<float>> Find(absl::string_view name) const;

 private:
  Parameters() = default;

  absl::Status AllocateFor(const ExecutionPlan& plan);

  MemoryBlock block_;
  absl::Span<const Parameter> parameters_;  // stored after the values
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETERS_H_

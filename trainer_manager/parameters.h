// The weights and statistics of a model: what training changes and inference
// reads.
//
//   auto parameters = footprint::Parameters::Create(plan, /*seed=*/1);
//   auto bias = (*parameters)->Find("hidden.bias");
//
// Owns one block of memory for all of them, shared by the managers that train
// and infer with them, and freed with the last. Thread-compatible: training
// writes here. Memory: the plan's model_bytes, and in the same block about 72
// bytes and the name for each parameter.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution_plan.h"
#include "footprint/trainer_manager/memory_block.h"
#include "footprint/trainer_manager/shape.h"

namespace footprint {

class Parameters {
 public:
  struct Parameter {
    absl::string_view name;  // "hidden.bias"
    Shape shape;
    absl::Span<float> values;
  };

  // Initialised as the layers ask; the same seed gives the same values.
  // ResourceExhausted: no memory.
  static absl::StatusOr<std::shared_ptr<Parameters>> Create(
      const ExecutionPlan& plan, uint64_t seed);

  // In the order of the layers.
  absl::Span<const Parameter> all() const { return parameters_; }

  // NotFound: no parameter of that name.
  absl::StatusOr<absl::Span<float>> Find(absl::string_view name) const;

 private:
  Parameters() = default;

  absl::Status AllocateFor(const ExecutionPlan& plan);

  MemoryBlock block_;
  absl::Span<const Parameter> parameters_;  // behind the values
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_H_

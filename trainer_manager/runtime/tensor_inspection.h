// Finds the values of a plan's tensor by its name, after a step.
//
//   auto bytes = footprint::LocateTensor(plan, "relu output",
//                                        footprint::DType::kF32,
//                                        memory);
//
// Pure and thread-safe. The bytes are those of the storage, not a copy: they
// are valid until the next step, or until the storage is freed. Allocates only
// an error's text. Time: linear in the tensors of the plan and the parameters.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_TENSOR_INSPECTION_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_TENSOR_INSPECTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

// The addresses of a plan's storages.
struct PlanMemory {
  const char* fixed = nullptr;
  const char* arena = nullptr;  // null: released
  const Parameters* parameters = nullptr;
};

// Returns the bytes of the tensor with that name. Returns NotFound if there is
// none. Returns InvalidArgument if it is a parameter that `memory.parameters`
// lacks or has in another shape. Returns FailedPrecondition if its memory was
// reused, if it holds another type than `type`, if it is the caller's, or if it
// was in an arena that is released.
absl::StatusOr<absl::Span<const char>> LocateTensor(const ExecutionPlan& plan,
                                                    absl::string_view name,
                                                    DType type,
                                                    const PlanMemory& memory);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_TENSOR_INSPECTION_H_

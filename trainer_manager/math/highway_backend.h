// Matrix products and convolutions on the machine's vector instructions, chosen
// at run time; one thread.
//
//   auto plan = footprint::PlanExecution(network, mode, options, states,
//                                        footprint::HighwayBackend());
//
// Keeps the contract of math_backend.h: nothing from the heap, workspaces that
// the caller plans (at most 361 KiB, none for small products), and a value of a
// result that depends on its own row and column alone. Convolutions are matrix
// products whose operand of shifted images is never stored as a whole: panels
// of it are gathered into the workspace.
//
// Sums are in the order of base/simd/dense_product.h; the error of one is at
// most (256 + blocks + 1) * 2^-24 of the sum of the products' magnitudes.
// Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_

#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

// Lives forever.
const MathBackend& HighwayBackend();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_

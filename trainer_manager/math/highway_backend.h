// Matrix products and convolutions on the machine's vector instructions, chosen
// at run time; one thread.
//
//   auto plan = footprint::PlanExecution(network, mode, options, states,
//                                        footprint::HighwayBackend());
//
// Keeps the contract of math_backend.h: it allocates nothing, the caller plans
// its workspaces (at most 361 KiB, none for small products), and a value of a
// result depends only on its own row and column. Convolutions are matrix
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

// Returns the backend, which is never destroyed.
const MathBackend& HighwayBackend();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_

// Matrix products and convolutions on the machine's vector instructions, chosen
// at run time; on one thread, or on a team of several with the same bits.
//
//   auto plan = footprint::PlanExecution(network, mode, options, states,
//                                        footprint::HighwayBackend());
//
// Keeps the contract of math_backend.h: it allocates nothing, the caller plans
// its workspaces (at most 361 KB a thread, none for small products), and a
// value of a result depends only on its own row and column. Convolutions are
// matrix products whose operand of shifted images is never stored as a whole:
// panels of it are gathered into the workspace.
//
// Sums are in the order of base/simd/dense_product.h. The error of a sum over
// `blocks` blocks of 256 products is at most (256 + blocks + 1) * 2^-24 of the
// sum of the products' magnitudes. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_

#include <memory>

#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

// Returns the backend that runs on the calling thread. It is never destroyed.
const MathBackend& HighwayBackend();

// The most threads of a team.
constexpr int kMostTeamThreads = 64;

// Returns a backend that divides each product and convolution, unless it is
// small (below 2^20 multiplications), among `threads` threads, of which the
// calling thread is one. Each computes a band of the result's rows or columns
// as one thread would, so the bits do not depend on the number of threads.
// ForEachBand divides loops over at least 2^15 array elements. If the system
// refuses to start some threads, there are fewer. Memory: the stack of each
// thread, and a planned workspace for each. The backend must outlive the plans
// and managers that are made with it. If several share it, one product or loop
// runs at a time. A number outside of 1 to kMostTeamThreads counts as the
// nearest of them.
std::unique_ptr<const MathBackend> MakeTeamBackend(int threads);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_HIGHWAY_BACKEND_H_

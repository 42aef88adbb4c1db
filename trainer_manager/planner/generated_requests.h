// Requests made by rule, for tests and benchmarks.
//
//   const PerfectPacking packing =
//       CutPerfectPacking(500, 1 << 20, CutStyle::kGuillotine, /*seed=*/1);
//   // the minimum is packing.height_bytes, by construction
//
// Pure functions, thread-safe: equal arguments give equal requests on every
// platform.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_GENERATED_REQUESTS_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_GENERATED_REQUESTS_H_

#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// Tensors that fill a rectangle of steps x bytes without a gap.
struct PerfectPacking {
  std::vector<TensorRequest> requests;  // shuffled
  std::vector<int64_t> offsets_bytes;   // of the cuts
  int64_t height_bytes = 0;
};

enum class CutStyle {
  kGuillotine,  // each cut goes through the whole piece
  kPinwheel,    // where a piece is large enough, five pieces around a centre
};

// Cuts until there are `tensor_count` tensors (up to 3 more by pinwheels).
PerfectPacking CutPerfectPacking(int64_t tensor_count, int64_t height_bytes,
                                 CutStyle style, uint64_t seed);

// A packing with some of its tensors away, a twentieth of them, but none at one
// step: the minimum is packing.height_bytes, yet nearly every other step has
// room to spare.
PerfectPacking CutLoosePacking(int64_t tensor_count, int64_t height_bytes,
                               CutStyle style, uint64_t seed);

enum class LifespanShape {
  kSawtooth,  // one begins at each step; lifespans rise from 1 to 50, then anew
  kUniform,   // any step to any later one
};

// Tensors of up to 256 KiB with such lifespans.
std::vector<TensorRequest> SpreadRequests(LifespanShape shape,
                                          int64_t tensor_count, uint64_t seed);

enum class NetworkShape {
  kChain,     // each layer reads the one before
  kResidual,  // every third layer reads also what entered its block
  kUNet,      // the second half reads the mirrored layer of the first
};

// The tensors of one training step of a network of that shape: activations
// kept until the backward pass reads them, derivatives that live between
// neighbouring layers, gradients applied at once, workspaces. About
// `tensor_count` tensors.
std::vector<TensorRequest> TrainingRequests(NetworkShape shape,
                                            int64_t tensor_count,
                                            uint64_t seed);

// Anything that CheckRequests accepts: 1 to `largest_count` tensors over few
// steps, small sizes, alignments of up to `largest_alignment_bytes`.
std::vector<TensorRequest> RandomRequests(int64_t largest_count,
                                          int64_t largest_alignment_bytes,
                                          uint64_t seed);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_GENERATED_REQUESTS_H_

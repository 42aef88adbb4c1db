// Generates requests by rules, for tests and benchmarks.
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
  kPinwheel,    // cuts large pieces in five, around a centre
};

// Cuts until there are `tensor_count` tensors (pinwheels may add up to 3).
PerfectPacking CutPerfectPacking(int64_t tensor_count, int64_t height_bytes,
                                 CutStyle style, uint64_t seed);

// Cuts a packing and removes about a twentieth of its tensors, but none at one
// step. The minimum is still packing.height_bytes, while nearly every other
// step has free bytes.
PerfectPacking CutLoosePacking(int64_t tensor_count, int64_t height_bytes,
                               CutStyle style, uint64_t seed);

enum class LifespanShape {
  kSawtooth,  // one begins a step; lifespans rise from 1 to 50, repeatedly
  kUniform,   // from any step to any later one
};

// Returns tensors of up to 256 KiB with such lifespans.
std::vector<TensorRequest> SpreadRequests(LifespanShape shape,
                                          int64_t tensor_count, uint64_t seed);

enum class NetworkShape {
  kChain,     // each layer reads the previous one
  kResidual,  // every third layer also reads its block's input
  kUNet,      // the second half reads the mirrored layer of the first
};

// Returns about `tensor_count` tensors of one training step of a network of
// that shape: activations, of which two of three live until the backward pass
// reads them, derivatives that live between neighbouring layers, gradients that
// are applied at once, and workspaces.
std::vector<TensorRequest> TrainingRequests(NetworkShape shape,
                                            int64_t tensor_count,
                                            uint64_t seed);

// Returns valid requests at random: 1 to `largest_count` tensors over few
// steps, with small sizes and alignments of up to `largest_alignment_bytes`, a
// power of two.
std::vector<TensorRequest> RandomRequests(int64_t largest_count,
                                          int64_t largest_alignment_bytes,
                                          uint64_t seed);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_GENERATED_REQUESTS_H_

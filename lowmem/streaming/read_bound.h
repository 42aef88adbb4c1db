// The least bytes that a run must read from its model's file, whatever the
// program that runs it.
//
//   const footprint::ReadBound bound = {pass_bytes, plan.peak_bytes};
//   std::cout << "20 tokens read at least " << bound.LeastBytes(20);
//
// A pass needs each byte of its weights. When a pass begins, a program that
// holds at most `memory_bytes` has at most this many of them in memory, and
// must read the others. The first pass finds none of them in memory. So `n`
// passes read at least W + (n - 1) (W - B) bytes. A program that always keeps
// the same B bytes reads exactly as many. The bound holds for programs that
// read the weights as they are stored in this file. Bytes of tables, of which a
// pass reads a few rows, are not among W.
//
// Plain data and pure functions; thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_STREAMING_READ_BOUND_H_
#define FOOTPRINT_LOWMEM_STREAMING_READ_BOUND_H_

#include <cstdint>

#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct ReadBound {
  // Returns the least bytes that every pass but the first reads.
  int64_t LeastBytesOfPass() const;

  // Returns the least bytes that `passes` passes read together.
  int64_t LeastBytes(int64_t passes) const;

  // Stored bytes of the tensors that each pass needs as a whole (W).
  int64_t pass_bytes = 0;
  // The most bytes that the program holds at a time (B).
  int64_t memory_bytes = 0;
};

// Returns the bound of a plan's passes. A resident store holds all weights
// beside the plan.
ReadBound BoundReads(const WeightStore& store, int64_t pass_bytes,
                     int64_t peak_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_READ_BOUND_H_

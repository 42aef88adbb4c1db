// The parts of a plan's arena that a pass uses, for any model.
//
//   float* scores = footprint::lowmem_internal::FindPart<float>(
//       arena, plan, plan.scores, worker);
//
// The arena owns the memory, and must outlive the pointers. Nothing is
// allocated. Thread-safe, since each worker has a part of its own and a
// VectorRun belongs to one worker. A plan is an EncoderPlan or a DecoderPlan.

#ifndef FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_
#define FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_

#include <cstdint>

#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/streamed_product.h"

namespace footprint::lowmem_internal {

// Hands out vectors one after the other.
class VectorRun {
 public:
  explicit VectorRun(float* first) : next_(first) {}
  float* Take(int64_t count) {
    float* const vector = next_;
    next_ += count;
    return vector;
  }

 private:
  float* next_;
};

// Returns a worker's part of `range`, or null if the range is empty.
template <class T, class Plan>
T* FindPart(const MappedBlock& arena, const Plan& plan, const ArenaRange& range,
            int worker) {
  if (range.size_bytes == 0) return nullptr;
  return arena.At<T>(range.offset_bytes + worker * plan.part_bytes(range));
}

// Returns the first of a worker's `slots`, and its buffers for floats.
template <class Plan>
ProductMemory FindProductMemory(const MappedBlock& arena, const Plan& plan,
                                int worker, int slots) {
  ProductMemory memory;
  memory.tile_bytes = plan.tile_bytes;
  memory.slot = FindPart<char>(arena, plan, plan.slots, worker);
  memory.slot_bytes = plan.part_bytes(plan.slots) / slots;
  memory.wide = FindPart<float>(arena, plan, plan.wide, worker);
  memory.wide_count = plan.part_bytes(plan.wide) / int64_t{sizeof(float)};
  memory.dense = FindPart<float>(arena, plan, plan.dense, worker);
  memory.rounded = FindPart<char>(arena, plan, plan.rounded, worker);
  return memory;
}

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_

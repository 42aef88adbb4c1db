// Parts of a plan's arena that a model's pass takes, whichever the model.
//
//   float* scores = footprint::lowmem_internal::FindPart<float>(
//       arena, plan, plan.scores, worker);
//
// The memory is the arena's, which must outlive all of it. Nothing is
// allocated. Thread-safe: each worker has a part of its own; a VectorRun
// belongs to one. A plan is an EncoderPlan or a DecoderPlan.

#ifndef FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_
#define FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_

#include <cstdint>

#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/streamed_product.h"

namespace footprint::lowmem_internal {

// Vectors one after the other.
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

// A worker's part of `range`; null if the range is empty.
template <class T, class Plan>
T* FindPart(const MappedBlock& arena, const Plan& plan, const ArenaRange& range,
            int worker) {
  if (range.size_bytes == 0) return nullptr;
  return arena.At<T>(range.offset_bytes + worker * plan.part_bytes(range));
}

// A worker's slot, the first of `slots`, and its rooms for floats.
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
  return memory;
}

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_STREAMING_PASS_MEMORY_H_

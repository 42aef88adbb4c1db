// Needs of streamed weights that a plan meets, and its growth into its budget.
//
//   auto plan = footprint::GrowPlan(
//       request, budget_bytes, smallest,
//       [](const Request& request, Choice choice) { ... },  // the next larger
//       [](const Request& request, Choice choice) { ... });  // its plan
//
// Plain data, thread-compatible. Memory: that of a few plans.

#ifndef FOOTPRINT_LOWMEM_STREAMING_PLAN_GROWTH_H_
#define FOOTPRINT_LOWMEM_STREAMING_PLAN_GROWTH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/lowmem/streaming/arena_layout.h"

namespace footprint {

// More threads than any machine has processors; beyond, a plan is refused.
inline constexpr int kMostWorkers = 1024;

// Needs of the matrices that are streamed, which a plan meets.
struct StreamingNeeds {
  // A number of elements that is whole blocks in every type: one of the large
  // ones, eight of the others.
  static constexpr int64_t kBlockElements = 8 * 32;
  static constexpr int64_t kFloatBlockBytes =
      kBlockElements * static_cast<int64_t>(sizeof(float));

  // The bytes that so many elements take in the widest type of the matrices,
  // and in the narrowest.
  int64_t largest_block_bytes = kFloatBlockBytes;
  int64_t smallest_block_bytes = kFloatBlockBytes;
  // Weights are copied into slots; false where they are used where they lie.
  bool uses_slots = true;
  // Reading a tile of a few columns would fetch the pages around each of its
  // rows, as direct reads of a file without panels do.
  bool reads_around_blocks = false;
  // Bytes that a slot needs beyond its tile: direct reads fetch whole pages.
  int64_t slot_overhead_bytes = 0;
  // Tiles are read ahead into further slots, where there is room for them.
  bool reads_ahead = false;
  // Bytes that each tensor that is read takes to stay in memory, in the order
  // in which spare room is given to them.
  std::vector<int64_t> pinnable_bytes;

  // Returns whether tiles are widened before use.
  bool has_narrow_weights() const {
    return smallest_block_bytes < kFloatBlockBytes;
  }
  // Returns the bytes that suffice for so many elements of any matrix.
  int64_t BytesOf(int64_t elements) const {
    return (elements * largest_block_bytes + kBlockElements - 1) /
           kBlockElements;
  }
  // Returns the elements that fit into so many bytes whatever the matrix.
  int64_t ElementsIn(int64_t bytes) const {
    return bytes * kBlockElements / largest_block_bytes;
  }
};

inline bool operator==(const StreamingNeeds& a, const StreamingNeeds& b) {
  return a.largest_block_bytes == b.largest_block_bytes &&
         a.smallest_block_bytes == b.smallest_block_bytes &&
         a.uses_slots == b.uses_slots &&
         a.reads_around_blocks == b.reads_around_blocks &&
         a.slot_overhead_bytes == b.slot_overhead_bytes &&
         a.reads_ahead == b.reads_ahead && a.pinnable_bytes == b.pinnable_bytes;
}

// Slots of each worker with which reading ahead hides the disk's latency.
inline constexpr int kLargestDepth = 8;

// Returns whether one more slot is worth it: the schedule of many small tiles
// would be larger than what they save; then 32 KiB of tile for each slot.
inline bool ReadsFurtherAhead(const StreamingNeeds& needs, int depth,
                              int64_t tile_bytes) {
  constexpr int64_t kLeastTileBytes = 128 << 10;
  return needs.reads_ahead && depth < kLargestDepth &&
         tile_bytes >= std::max(kLeastTileBytes, (int64_t{32} << 10) * depth);
}

// The most of `count` that one of the workers is dealt, in runs of `unit`.
inline int64_t LargestShare(int64_t count, int64_t unit, int64_t workers) {
  const int64_t units = (count + unit - 1) / unit;
  return std::min(count, (units + workers - 1) / workers * unit);
}

// Slots for tiles, at pages; none where weights are used where they lie.
inline ArenaRange TakeSlots(int64_t slots, int64_t tile_bytes,
                            const StreamingNeeds& needs, ArenaLayout* layout) {
  if (!needs.uses_slots) return ArenaRange();
  const int64_t slot_bytes =
      AlignUp(tile_bytes + needs.slot_overhead_bytes, kPageBytes);
  return layout->Take(slots * slot_bytes, kPageBytes);
}

// Returns the bytes of the buffer in which rows of a tile are widened to
// floats; 0 if all are floats. A tile of halves fits as a whole. A quantised
// tile is widened some rows at a time, since its floats would not fit the
// caches.
inline int64_t WideBytes(const StreamingNeeds& needs, int64_t tile_bytes,
                         int64_t longest_row) {
  constexpr int64_t kRowsAtOnce = 16;
  if (!needs.has_narrow_weights()) return 0;
  const int64_t whole = (tile_bytes * StreamingNeeds::kFloatBlockBytes +
                         needs.smallest_block_bytes - 1) /
                        needs.smallest_block_bytes;
  const int64_t some =
      kRowsAtOnce * longest_row * static_cast<int64_t>(sizeof(float));
  return std::min(whole, std::max(2 * tile_bytes, some));
}

// The plan with slots where it has none, since all its tensors are pinned: what
// reading them as tiles would cost can then be counted.
template <class Plan>
Plan WithSlots(Plan plan, int64_t slots_of_worker) {
  if (plan.slots.size_bytes > 0) return plan;
  ArenaLayout layout;
  plan.slots = TakeSlots(plan.request.workers * slots_of_worker,
                         plan.tile_bytes, plan.request.needs, &layout);
  return plan;
}

// Tensors that stay in memory, after everything else.
struct PinnedTensors {
  ArenaRange range;
  // The number of tensors that stay as a whole.
  int64_t count = 0;
  // The first bytes of the next tensor, which stay, too: whole lines.
  int64_t partial_bytes = 0;

  // Returns the share of weights that take `tile_bytes` and are pinned before
  // all else.
  double share(int64_t tile_bytes) const {
    return tile_bytes == 0
               ? 0.0
               : std::min(1.0, static_cast<double>(range.size_bytes) /
                                   static_cast<double>(tile_bytes));
  }
};

// The common part of all model families' plans.
struct ModelPlan {
  int64_t budget_bytes = 0;
  // The whole arena: no more than the budget.
  int64_t peak_bytes = 0;

  // Stored bytes of the weights in a tile.
  int64_t tile_bytes = 0;
  // Intermediate features that are held at a time.
  int64_t chunk_features = 0;
  // Slots of each worker's ring: the tile in use, and those read ahead; not
  // more than it has tiles, and none where all tensors are pinned.
  int depth = 1;

  ArenaRange hidden;
  ArenaRange vectors;
  // Each for all workers, in equal parts.
  ArenaRange slots;
  // Which tiles are read ahead; empty unless depth is above 1.
  ArenaRange schedule;
  ArenaRange wide;   // tiles as floats, if stored narrower
  ArenaRange dense;  // the input as one vector, for a single token
  // The weights that stay in what the budget had to spare.
  PinnedTensors pinned;
};

// InvalidArgument: no token, more tokens than the model has positions, or a
// number of workers that no plan has.
absl::Status CheckPlannedSize(int64_t tokens, int64_t positions, int workers);

// Returns as many of the first as fit between an arena's end and the budget,
// and as much of the next as the rest has room for. So a run reads close to the
// least bytes that any program reads (read_bound.h), however large the tensors.
inline PinnedTensors ChoosePinned(const StreamingNeeds& needs,
                                  int64_t peak_bytes, int64_t budget_bytes) {
  PinnedTensors pinned;
  pinned.range.offset_bytes = peak_bytes;
  if (!needs.uses_slots) return pinned;
  const int64_t end_bytes = budget_bytes / kPageBytes * kPageBytes;
  for (const int64_t bytes : needs.pinnable_bytes) {
    const int64_t room_bytes = end_bytes - pinned.range.end_bytes();
    if (bytes > room_bytes) {
      pinned.partial_bytes =
          std::max<int64_t>(0, room_bytes) / kLineBytes * kLineBytes;
      pinned.range.size_bytes += pinned.partial_bytes;
      break;
    }
    pinned.range.size_bytes += bytes;
    ++pinned.count;
  }
  return pinned;
}

// The choice with no more slots than there are tiles to read ahead: another
// would hold none. How many there are does not depend on it.
template <class Choice>
Choice WithDepth(Choice choice, int64_t tiles) {
  choice.depth = static_cast<int>(std::max<int64_t>(1, tiles));
  return choice;
}

// The layout of the largest choice where all tensors are pinned: without slots,
// for nothing is read into them. Its peak says whether they have room.
template <class Request, class Choice, class Grow, class Lay>
auto LayAllPinned(const Request& request, Choice choice, Grow grow, Lay lay) {
  Request in_place = request;
  in_place.needs.uses_slots = false;
  in_place.needs.reads_ahead = false;
  for (Choice next = grow(in_place, choice); !(next == choice);
       next = grow(in_place, choice)) {
    choice = next;
  }
  auto plan = lay(in_place, choice);
  plan.request = request;
  return plan;
}

// Takes larger choices than `smallest`, whose layout has room in the budget, as
// long as what they are laid out as keeps to it, then pins tensors in what is
// left; but at once pins all of them where they have room. All grows with the
// budget. grow(request, choice) returns the choice unchanged when nothing can
// grow; lay(request, choice) is its plan.
template <class Request, class Choice, class Grow, class Lay>
auto GrowPlan(const Request& request, int64_t budget_bytes,
              const Choice& smallest, Grow grow, Lay lay) {
  const StreamingNeeds& needs = request.needs;
  auto plan = LayAllPinned(request, smallest, grow, lay);
  const int64_t tensors = static_cast<int64_t>(needs.pinnable_bytes.size());
  plan.pinned = ChoosePinned(needs, plan.peak_bytes, budget_bytes);
  if (tensors == 0 || plan.pinned.count < tensors) {
    Choice choice = smallest;
    plan = lay(request, choice);
    bool is_grown = false;
    while (!is_grown) {
      const Choice next = grow(request, choice);
      is_grown = next == choice;
      if (is_grown) break;
      const auto larger = lay(request, next);
      if (larger.peak_bytes > budget_bytes) break;
      choice = next;
      plan = larger;
    }
    plan.pinned =
        ChoosePinned(needs, plan.peak_bytes, is_grown ? budget_bytes : 0);
  }
  plan.budget_bytes = budget_bytes;
  plan.peak_bytes = AlignUp(plan.pinned.range.end_bytes(), kPageBytes);
  return plan;
}

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_PLAN_GROWTH_H_

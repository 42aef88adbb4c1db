// Grows a plan of streamed weights into its budget, and defines the needs that
// the plan must meet.
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

// The most workers that a plan may have, more than most machines have
// processors.
inline constexpr int kMostWorkers = 1024;

// The needs of the streamed matrices.
struct StreamingNeeds {
  // A number of elements that is a whole number of blocks in every type: one of
  // the large blocks, or eight of the others.
  static constexpr int64_t kBlockElements = 8 * 32;
  static constexpr int64_t kFloatBlockBytes =
      kBlockElements * static_cast<int64_t>(sizeof(float));

  // Bytes of kBlockElements elements in the widest type of the matrices, and in
  // the narrowest.
  int64_t largest_block_bytes = kFloatBlockBytes;
  int64_t smallest_block_bytes = kFloatBlockBytes;
  // True: weights are copied into slots. False: they are used in place.
  bool uses_slots = true;
  // True: reading a tile of a few columns would fetch the blocks around each of
  // its rows, as direct reads of a file without panels do.
  bool reads_around_blocks = false;
  // Bytes that a slot needs beyond its tile, because direct reads fetch whole
  // blocks of the disk.
  int64_t slot_overhead_bytes = 0;
  // True: tiles are read ahead into further slots if there is room for them.
  bool reads_ahead = false;
  // True: inputs of quantised matrices are rounded to eight bits.
  bool rounds_inputs = false;
  // The bytes that each tensor takes in memory, in the order in which tensors
  // get spare memory.
  std::vector<int64_t> pinnable_bytes;
  // How many of these tensors, from the first on, each pass reads as a whole.
  // The others are tables, of which it reads a few rows.
  int64_t whole_tensors = 0;

  // Returns whether tiles are widened before use.
  bool has_narrow_weights() const {
    return smallest_block_bytes < kFloatBlockBytes;
  }
  // Returns the bytes that hold that many elements of any of the matrices,
  // which must be whole blocks.
  int64_t BytesOf(int64_t elements) const {
    return (elements * largest_block_bytes + kBlockElements - 1) /
           kBlockElements;
  }
  // Returns how many elements of any of the matrices fit into the bytes,
  // rounded down, perhaps within a block.
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
         a.reads_ahead == b.reads_ahead && a.rounds_inputs == b.rounds_inputs &&
         a.pinnable_bytes == b.pinnable_bytes &&
         a.whole_tensors == b.whole_tensors;
}

// With this many slots for each worker, reading ahead hides the disk's latency.
inline constexpr int kLargestDepth = 8;

// Returns whether one more slot is worthwhile. With many small tiles the
// schedule would be larger than the saving, so a tile must have 32 KiB for each
// slot so far, and at least 128 KiB.
inline bool ReadsFurtherAhead(const StreamingNeeds& needs, int depth,
                              int64_t tile_bytes) {
  constexpr int64_t kLeastTileBytes = 128 << 10;
  return needs.reads_ahead && depth < kLargestDepth &&
         tile_bytes >= std::max(kLeastTileBytes, (int64_t{32} << 10) * depth);
}

// Returns the largest share of `count` that a worker gets, in runs of `unit`.
inline int64_t LargestShare(int64_t count, int64_t unit, int64_t workers) {
  const int64_t units = (count + unit - 1) / unit;
  return std::min(count, (units + workers - 1) / workers * unit);
}

// Takes page-aligned slots for tiles, or nothing if weights are used in place.
inline ArenaRange TakeSlots(int64_t slots, int64_t tile_bytes,
                            const StreamingNeeds& needs, ArenaLayout* layout) {
  if (!needs.uses_slots) return ArenaRange();
  const int64_t slot_bytes =
      AlignUp(tile_bytes + needs.slot_overhead_bytes, kPageBytes);
  return layout->Take(slots * slot_bytes, kPageBytes);
}

// Returns the bytes of the buffer in which rows of a tile are widened to
// floats, or 0 if all weights are floats. A tile of 16-bit floats fits as a
// whole. A quantised tile is widened some rows at a time, since all its floats
// would not fit the caches.
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

// Returns the plan with slots, even if it has none because all its tensors are
// pinned. The cost of reading them as tiles can then be counted.
template <class Plan>
Plan WithSlots(Plan plan, int64_t slots_of_worker) {
  if (plan.slots.size_bytes > 0) return plan;
  ArenaLayout layout;
  plan.slots = TakeSlots(plan.request.workers * slots_of_worker,
                         plan.tile_bytes, plan.request.needs, &layout);
  return plan;
}

// The tensors that stay in memory. They lie after everything else.
struct PinnedTensors {
  ArenaRange range;
  // The number of tensors that stay as a whole.
  int64_t count = 0;
  // The number of first bytes of the next tensor that stay, too, in whole cache
  // lines.
  int64_t partial_bytes = 0;

  // Returns the pinned share of weights that take `tile_bytes` in all, if they
  // are pinned before other tensors.
  double share(int64_t tile_bytes) const {
    return tile_bytes == 0
               ? 0.0
               : std::min(1.0, static_cast<double>(range.size_bytes) /
                                   static_cast<double>(tile_bytes));
  }
};

// The common part of the plans of all model families.
struct ModelPlan {
  int64_t budget_bytes = 0;
  // Bytes of the whole arena, at most the budget.
  int64_t peak_bytes = 0;

  // Stored bytes of the weights in a tile.
  int64_t tile_bytes = 0;
  // Intermediate features that are held at a time.
  int64_t chunk_features = 0;
  // Slots of each worker's ring: the tile in use, and those read ahead. At most
  // the worker's number of tiles.
  int depth = 1;

  ArenaRange hidden;
  ArenaRange vectors;
  // The following ranges hold equal parts for all workers.
  ArenaRange slots;
  // The tiles that are read ahead; empty unless depth is above 1.
  ArenaRange schedule;
  ArenaRange wide;     // tiles as floats, if stored narrower
  ArenaRange dense;    // the input as one vector, for a single token
  ArenaRange rounded;  // the input rounded to eight bits, if needed
  // The weights that stay in the memory that the budget left free.
  PinnedTensors pinned;
};

// Returns InvalidArgument if there is no token, if there are more tokens than
// the model has positions, or if the number of workers is out of range.
absl::Status CheckPlannedSize(int64_t tokens, int64_t positions, int workers);

// Chooses the first tensors that fit between the arena's end and the budget,
// and the part of the next tensor that fits into the rest. So a run reads close
// to the least bytes that any program reads (read_bound.h), however large the
// tensors. No part of a table is kept, because most of its bytes would not be
// used.
inline PinnedTensors ChoosePinned(const StreamingNeeds& needs,
                                  int64_t peak_bytes, int64_t budget_bytes) {
  PinnedTensors pinned;
  pinned.range.offset_bytes = peak_bytes;
  if (!needs.uses_slots) return pinned;
  const int64_t end_bytes = budget_bytes / kPageBytes * kPageBytes;
  for (const int64_t bytes : needs.pinnable_bytes) {
    const int64_t room_bytes = end_bytes - pinned.range.end_bytes();
    if (bytes > room_bytes) {
      if (pinned.count < needs.whole_tensors) {
        // Leaves a page of the budget free, so that the mapping with its guard
        // page is no larger than the budget. Whole tensors may take that page.
        pinned.partial_bytes = std::max<int64_t>(0, room_bytes - kPageBytes) /
                               kLineBytes * kLineBytes;
        pinned.range.size_bytes += pinned.partial_bytes;
      }
      break;
    }
    pinned.range.size_bytes += bytes;
    ++pinned.count;
  }
  return pinned;
}

// Returns the choice with at most as many slots as there are tiles to read
// ahead, since more would stay empty. The number of tiles does not depend on
// `depth`.
template <class Choice>
Choice WithDepth(Choice choice, int64_t tiles) {
  choice.depth = static_cast<int>(std::max<int64_t>(1, tiles));
  return choice;
}

// Returns the layout of the largest choice with all tensors pinned. It has no
// slots, since nothing is read into them. Its peak tells whether the tensors
// fit.
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

// Grows a plan into its budget. If all tensors can be pinned, it does that.
// Otherwise it takes ever larger choices, from `smallest` on, as long as their
// layout keeps to the budget; if nothing can grow any more, it pins tensors in
// the rest. The layout of `smallest` must fit. grow(request, choice) returns
// the choice unchanged if nothing can grow; lay(request, choice) returns its
// plan.
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

// The common part of the kinds of tile streams: a ring of slots.
//
//   absl::StatusOr<std::unique_ptr<TileStream>> queue =
//       lowmem_internal::OpenQueueStream(layout);
//
// The tile that is n-th since the beginning goes to slot n modulo depth.
// A layout refers to store, schedule and slots, which must outlive the stream
// that is opened with it. Thread-compatible: plain values, and functions that
// only read them. Memory: `slot_bytes` for each of `depth` slots, the caller's.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_TILE_RING_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_TILE_RING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// Checked by TileStream::Open; copied into each stream.
struct RingLayout {
  WeightStore* store = nullptr;
  absl::Span<const Tile> schedule;
  int depth = 1;
  bool repeat = false;
  char* slots = nullptr;
  int64_t slot_bytes = 0;

  bool AtEnd(int64_t sequence) const {
    const int64_t size = static_cast<int64_t>(schedule.size());
    return size == 0 || (!repeat && sequence >= size);
  }
  int64_t IndexOf(int64_t sequence) const {
    return sequence % static_cast<int64_t>(schedule.size());
  }
  const Tile& TileAt(int64_t sequence) const {
    return schedule[IndexOf(sequence)];
  }
  int64_t FindSlot(int64_t sequence) const { return sequence % depth; }
  char* SlotData(int64_t slot) const {
    return slots == nullptr ? nullptr : slots + slot * slot_bytes;
  }
};

// Returns the bytes from one slot to the next: the largest tile's, up to the
// slots' alignment.
int64_t RingSlotBytes(const WeightStore& store,
                      absl::Span<const Tile> schedule);

absl::Status StillLent(int64_t index, int depth);
absl::Status EndOfSchedule(int64_t tiles);
absl::Status LeasesRemain();
// Fails if Rewind may not go to `index`; any schedule can be begun anew.
absl::Status CheckIndex(int64_t index, const RingLayout& layout);

// Tiles read by a thread of the stream's own; its description begins with
// `reason`.
absl::StatusOr<std::unique_ptr<TileStream>> OpenThreadStream(
    const RingLayout& layout, std::string reason);

// Tiles read by the kernel's queue. Unimplemented, with the system's reason,
// where there is none for us.
absl::StatusOr<std::unique_ptr<TileStream>> OpenQueueStream(
    const RingLayout& layout);

}  // namespace footprint::lowmem_internal

// Tested by tile_stream_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_TILE_RING_H_

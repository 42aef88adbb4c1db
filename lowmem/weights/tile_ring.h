// The common part of all tile streams: a ring of slots.
//
//   absl::StatusOr<std::unique_ptr<TileStream>> queue =
//       lowmem_internal::OpenQueueStream(layout);
//
// The n-th tile since the beginning goes to slot n modulo depth. A layout
// refers to a store, a schedule and slots, which must outlive the stream that
// is opened with it. Thread-compatible: plain values, and functions that only
// read them. Memory: `slot_bytes` for each of `depth` slots, which the caller
// owns.

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

// The parameters of a stream. TileStream::Open checks them; each stream has a
// copy.
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

// Returns the bytes of a slot: those of the largest tile, rounded up to the
// slots' alignment.
int64_t RingSlotBytes(const WeightStore& store,
                      absl::Span<const Tile> schedule);

// These return the errors of TileStream: the slot of tile `index` is still lent
// (FailedPrecondition), all tiles were delivered (OutOfRange), and a lease has
// not ended before Rewind (FailedPrecondition).
absl::Status StillLent(int64_t index, int depth);
absl::Status EndOfSchedule(int64_t tiles);
absl::Status LeasesRemain();
// Returns OutOfRange if Rewind may not go to `index`. Index 0 is always valid.
absl::Status CheckIndex(int64_t index, const RingLayout& layout);

// Opens a stream that reads tiles in a thread of its own. Its description
// begins with `reason`.
absl::StatusOr<std::unique_ptr<TileStream>> OpenThreadStream(
    const RingLayout& layout, std::string reason);

// Opens a stream that reads tiles through io_uring. Returns Unimplemented, with
// the system's reason, if the process cannot use it.
absl::StatusOr<std::unique_ptr<TileStream>> OpenQueueStream(
    const RingLayout& layout);

}  // namespace footprint::lowmem_internal

// Tested by tile_stream_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_TILE_RING_H_

// Tiles in the order of a fixed schedule, each ready when it is asked for.
//
//   std::vector<footprint::Tile> schedule = ...;  // the order of use
//   absl::StatusOr<std::unique_ptr<footprint::TileStream>> stream =
//       footprint::TileStream::Open(store, schedule, {.depth = 4}, arena);
//   while (...) {
//     absl::StatusOr<footprint::TileLease> tile = (*stream)->Next();
//     Use(tile->data(), tile->row_stride_bytes());
//   }  // the lease ends: its slot is read into again
//
// The arena is cut into `depth` slots, a ring: a tile is read into a slot as
// soon as the slot's lease has ended, so what is held never exceeds the arena
// and reading waits for the consumer (back-pressure). Which tile a slot holds
// does not depend on time, and every backend delivers the same bytes.
//
// kDirect reads ahead by a queue of the kernel (io_uring) or, where that is
// refused, by a thread. The others read when asked: from the page cache a
// thread gains nothing while every core computes; `read_ahead_thread` asks for
// one all the same. kResident and kMmap copy nothing and need no arena, unless
// the file's tensors are not aligned for their elements.
//
// Thread-compatible: one thread consumes a stream; each thread makes its own.
// The store, the schedule and the arena must outlive the stream, and the stream
// its leases. Memory: the arena; besides, when it is opened, 40 bytes a slot
// and the queue's few pages; nothing after that.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_TILE_STREAM_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_TILE_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct TileStreamOptions {
  // Slots, so the tiles held and under way together; at least 1. A stream with
  // more than one can lend more than one tile at a time.
  int depth = 1;
  // The first tile comes again after the last one, without an end, if this is
  // set.
  bool repeat = false;
  // A thread of its own reads ahead, for kPread on a file that is not in the
  // page cache. Ignored for kResident and kMmap.
  bool read_ahead_thread = false;
  // kDirect reads by a thread although io_uring may be there: for tests, and
  // for a system that forbids it late.
  bool avoid_io_uring = false;
};

class TileStream;

// A tile that may be read until the lease epilogue. Movable.
class TileLease {
 public:
  TileLease() = default;
  TileLease(TileLease&& other) noexcept { *this = std::move(other); }
  TileLease& operator=(TileLease&& other) noexcept;
  ~TileLease() { Release(); }

  // Returns null when released or moved from.
  const void* data() const { return view_.data; }
  int64_t row_stride_bytes() const { return view_.row_stride_bytes; }
  // Its place in the schedule.
  int64_t index() const { return index_; }

  // Ends the lease early.
  void Release();

 private:
  friend class TileStream;
  TileLease(TileStream* stream, int64_t slot, int64_t index, TileView view)
      : stream_(stream), slot_(slot), index_(index), view_(view) {}

  TileStream* stream_ = nullptr;
  int64_t slot_ = 0;
  int64_t index_ = 0;
  TileView view_;
};

class TileStream {
 public:
  // Bytes that the arena must hold, each slot for the largest tile.
  static int64_t ArenaBytes(const WeightStore& store,
                            absl::Span<const Tile> schedule, int depth);

  // `arena` begins at a multiple of store->SlotAlignmentBytes(). Reading begins
  // at once. InvalidArgument: no slot, or an arena that is too small or
  // not aligned; the text says how large it must be.
  static absl::StatusOr<std::unique_ptr<TileStream>> Open(
      WeightStore* store, absl::Span<const Tile> schedule,
      const TileStreamOptions& options, absl::Span<char> arena);

  // Waits for reads under way, which write into the arena.
  virtual ~TileStream() = default;
  TileStream(const TileStream&) = delete;
  TileStream& operator=(const TileStream&) = delete;

  // Waits until the next tile is there. OutOfRange: the schedule is at its end.
  // FailedPrecondition: every slot is lent, so waiting would be for ever; or
  // the file changed (see WeightStore). After an error the stream delivers
  // nothing.
  virtual absl::StatusOr<TileLease> Next() = 0;

  // Goes on from the tile at `index` of the schedule. Tiles read ahead are
  // dropped; all leases must have ended, else FailedPrecondition. OutOfRange:
  // no such tile.
  virtual absl::Status Rewind(int64_t index) = 0;

  // Time that Next has waited for bytes.
  int64_t wait_nanoseconds() const { return wait_nanoseconds_; }

  // How tiles are read ahead, for a report: "io_uring, 4 slots, registered
  // buffers", or what was refused and what is done instead.
  virtual std::string Description() const = 0;

 protected:
  TileStream() = default;
  static TileLease MakeLease(TileStream* stream, int64_t slot, int64_t index,
                             TileView view) {
    return TileLease(stream, slot, index, view);
  }

  int64_t wait_nanoseconds_ = 0;

 private:
  friend class TileLease;
  virtual void ReleaseSlot(int64_t slot) = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_TILE_STREAM_H_

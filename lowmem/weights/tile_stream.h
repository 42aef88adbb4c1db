// Delivers tiles in the order of a fixed schedule, read ahead if that saves
// time.
//
//   std::vector<footprint::Tile> schedule = ...;  // the order of use
//   absl::StatusOr<std::unique_ptr<footprint::TileStream>> stream =
//       footprint::TileStream::Open(store, schedule, {.depth = 4}, arena);
//   while (...) {
//     absl::StatusOr<footprint::TileLease> tile = (*stream)->Next();
//     Use(tile->data(), tile->row_stride_bytes());
//   }  // the lease ends: its slot is read into again
//
// The arena is cut into a ring of `depth` slots. A tile is read into a slot as
// soon as the slot's lease has ended, so memory never exceeds the arena, and
// reading waits for the consumer (back-pressure). The slot of a tile does not
// depend on time, and every backend delivers the same bytes.
//
// kDirect reads ahead through io_uring or, if the kernel refuses that, in a
// thread. The other backends read when a tile is requested: while every core
// computes, a thread that reads from the page cache gains nothing.
// `read_ahead_thread` requests one anyway. kResident and kMmap copy nothing and
// need no arena, unless the file's tensors are not aligned for their elements.
//
// Thread-compatible: one thread consumes a stream, and each thread opens its
// own. The store, the schedule and the arena must outlive the stream, and the
// stream must outlive its leases. Memory: the arena, and from Open on 40 bytes
// a slot and the queue's few pages. Nothing is allocated after Open.

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
  // The number of slots, at least 1: the tiles that are lent or being read
  // together. A stream with several slots can lend several tiles at a time.
  int depth = 1;
  // If set, the schedule repeats without end.
  bool repeat = false;
  // If set, a thread reads ahead. This is useful for kPread on a file that is
  // not in the page cache; ignored for kResident and kMmap.
  bool read_ahead_thread = false;
  // If set, kDirect reads in a thread even if io_uring is available. This is
  // for tests, and for systems that refuse io_uring only after setup. With
  // kPread it has the effect of `read_ahead_thread`.
  bool avoid_io_uring = false;
};

class TileStream;

// A tile that may be read until the lease ends. Movable.
class TileLease {
 public:
  TileLease() = default;
  TileLease(TileLease&& other) noexcept { *this = std::move(other); }
  TileLease& operator=(TileLease&& other) noexcept;
  ~TileLease() { Release(); }

  // Returns the start of the first row, or null if the lease was released or
  // moved from. Rows begin row_stride_bytes() apart.
  const void* data() const { return view_.data; }
  int64_t row_stride_bytes() const { return view_.row_stride_bytes; }
  // Returns the tile's position in the schedule.
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
  // Returns the bytes that the arena must hold: `depth` slots for the largest
  // tile.
  static int64_t ArenaBytes(const WeightStore& store,
                            absl::Span<const Tile> schedule, int depth);

  // `arena` must begin at a multiple of store->SlotAlignmentBytes(). Reading
  // begins at once. Returns InvalidArgument if `depth` is below 1, if a tile
  // has more than 1 GiB, or if the arena is too small or not aligned; the
  // message says what is needed. Returns OutOfRange if a tile is outside the
  // file, and Unavailable if the thread that reads cannot start.
  static absl::StatusOr<std::unique_ptr<TileStream>> Open(
      WeightStore* store, absl::Span<const Tile> schedule,
      const TileStreamOptions& options, absl::Span<char> arena);

  // Waits for reads in flight, which write into the arena.
  virtual ~TileStream() = default;
  TileStream(const TileStream&) = delete;
  TileStream& operator=(const TileStream&) = delete;

  // Waits for the next tile and returns it. Returns OutOfRange at the end of
  // the schedule. Returns FailedPrecondition if the lease of the tile `depth`
  // places before has not ended, so that the wait would never end, or if the
  // file changed (see WeightStore). Once a tile could not be read, the stream
  // returns that error for it and every later tile, also after Rewind.
  virtual absl::StatusOr<TileLease> Next() = 0;

  // Continues at the tile `index` of the schedule and drops tiles that were
  // read ahead. Returns FailedPrecondition unless all leases have ended.
  // Returns OutOfRange if there is no such tile, and the error of a tile that
  // could not be read.
  virtual absl::Status Rewind(int64_t index) = 0;

  // Returns the time that Next has waited for bytes.
  int64_t wait_nanoseconds() const { return wait_nanoseconds_; }

  // Describes for a report how tiles are read ahead, such as "io_uring, 4
  // slots, registered buffers", or what the system refused and what is used
  // instead.
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

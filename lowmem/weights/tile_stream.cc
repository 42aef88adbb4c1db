#include "footprint/lowmem/weights/tile_stream.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/tile_ring.h"

namespace footprint {
namespace lowmem_internal {

int64_t RingSlotBytes(const WeightStore& store,
                      absl::Span<const Tile> schedule) {
  int64_t largest = 0;
  for (const Tile& tile : schedule) {
    largest = std::max(largest, store.SlotBytes(tile));
  }
  return AlignUp(largest, store.SlotAlignmentBytes());
}

absl::Status StillLent(int64_t index, int depth) {
  return absl::FailedPreconditionError(absl::StrCat(
      "tile ", index, " needs the slot of the tile ", depth,
      " places before it, whose lease has not ended: end it, or use more slots "
      "(depth)"));
}

absl::Status EndOfSchedule(int64_t tiles) {
  return absl::OutOfRangeError(
      absl::StrCat("all ", tiles,
                   " tiles of the schedule were delivered; Rewind, or repeat"));
}

absl::Status LeasesRemain() {
  return absl::FailedPreconditionError(
      "a lease has not ended: end every lease before Rewind");
}

absl::Status CheckIndex(int64_t index, const RingLayout& layout) {
  const int64_t tiles = static_cast<int64_t>(layout.schedule.size());
  if (index == 0 || (index > 0 && index < tiles)) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("no tile ", index, " in a schedule of ", tiles));
}

namespace {

// A stream that reads a tile when it is asked for, or returns it in place.
class SynchronousStream final : public TileStream {
 public:
  explicit SynchronousStream(const RingLayout& layout)
      : layout_(layout), lent_(layout.depth) {}

  absl::StatusOr<TileLease> Next() override {
    if (!failure_.ok()) return failure_;
    if (layout_.AtEnd(next_)) return EndOfSchedule(layout_.schedule.size());
    const int64_t slot = layout_.FindSlot(next_);
    if (lent_[slot]) return StillLent(layout_.IndexOf(next_), layout_.depth);
    const int64_t begin = NowNanoseconds();
    absl::StatusOr<TileView> view =
        layout_.store->Load(layout_.TileAt(next_), layout_.SlotData(slot));
    wait_nanoseconds_ += NowNanoseconds() - begin;
    if (!view.ok()) return failure_ = view.status();
    lent_[slot] = true;
    return MakeLease(this, slot, layout_.IndexOf(next_++), *view);
  }

  absl::Status Rewind(int64_t index) override {
    const absl::Status inside = CheckIndex(index, layout_);
    if (!inside.ok()) return inside;
    if (std::find(lent_.begin(), lent_.end(), true) != lent_.end()) {
      return LeasesRemain();
    }
    next_ = index;
    return failure_;
  }

  std::string Description() const override {
    return absl::StrCat(WeightBackendName(layout_.store->backend()),
                        ", when asked for, ", layout_.depth, " slots");
  }

 private:
  void ReleaseSlot(int64_t slot) override { lent_[slot] = false; }

  const RingLayout layout_;
  std::vector<bool> lent_;
  absl::Status failure_;
  int64_t next_ = 0;
};

}  // namespace
}  // namespace lowmem_internal

using lowmem_internal::RingLayout;

TileLease& TileLease::operator=(TileLease&& other) noexcept {
  if (this == &other) return *this;
  Release();
  stream_ = std::exchange(other.stream_, nullptr);
  slot_ = other.slot_;
  index_ = other.index_;
  view_ = std::exchange(other.view_, TileView());
  return *this;
}

void TileLease::Release() {
  view_ = TileView();
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->ReleaseSlot(slot_);
}

int64_t TileStream::ArenaBytes(const WeightStore& store,
                               absl::Span<const Tile> schedule, int depth) {
  return depth * lowmem_internal::RingSlotBytes(store, schedule);
}

namespace {

// The most bytes that one request can read on any system.
constexpr int64_t kMostTileBytes = int64_t{1} << 30;

absl::Status CheckArena(const WeightStore& store,
                        absl::Span<const Tile> schedule, int depth,
                        absl::Span<char> arena) {
  const int64_t wanted = TileStream::ArenaBytes(store, schedule, depth);
  if (static_cast<int64_t>(arena.size()) < wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("an arena of ", arena.size(), " bytes, but ", depth,
                     " slots for these tiles take ", wanted,
                     "; see TileStream::ArenaBytes"));
  }
  const auto address = reinterpret_cast<uintptr_t>(arena.data());
  if (wanted > 0 && address % store.SlotAlignmentBytes() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the arena begins at no multiple of ",
                     store.SlotAlignmentBytes(), " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TileStream>> TileStream::Open(
    WeightStore* store, absl::Span<const Tile> schedule,
    const TileStreamOptions& options, absl::Span<char> arena) {
  if (options.depth < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a stream of ", options.depth, " slots; use at least 1"));
  }
  for (const Tile& tile : schedule) {
    absl::Status inside = store->CheckTile(tile);
    if (!inside.ok()) return inside;
    if (tile.size_bytes() > kMostTileBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tile of ", tile.size_bytes(),
                       " bytes; a stream takes at most ", kMostTileBytes));
    }
  }
  absl::Status fits = CheckArena(*store, schedule, options.depth, arena);
  if (!fits.ok()) return fits;
  RingLayout layout;
  layout.store = store;
  layout.schedule = schedule;
  layout.depth = options.depth;
  layout.repeat = options.repeat;
  layout.slots = arena.data();
  layout.slot_bytes = lowmem_internal::RingSlotBytes(*store, schedule);
  if (store->backend() == WeightBackend::kDirect && !options.avoid_io_uring) {
    absl::StatusOr<std::unique_ptr<TileStream>> queue =
        lowmem_internal::OpenQueueStream(layout);
    if (!absl::IsUnimplemented(queue.status())) return queue;
    return lowmem_internal::OpenThreadStream(
        layout, absl::StrCat("io_uring was refused here (",
                             queue.status().message(), "): "));
  }
  const bool reads = store->backend() == WeightBackend::kDirect ||
                     store->backend() == WeightBackend::kPread;
  if (reads && (options.read_ahead_thread || options.avoid_io_uring)) {
    return lowmem_internal::OpenThreadStream(layout, "");
  }
  return std::make_unique<lowmem_internal::SynchronousStream>(layout);
}

}  // namespace footprint

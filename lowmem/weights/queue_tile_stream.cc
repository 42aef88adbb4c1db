// A stream whose tiles the kernel reads ahead. Requests enter an io_uring as
// slots become free, and completions are taken when a tile is asked for. It
// needs no thread.

#include <errno.h>
#include <liburing.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/weights/direct_read.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/tile_ring.h"

namespace footprint::lowmem_internal {
namespace {

// The most requests in flight; a tile with gaps takes one for each row.
constexpr int kMostRequests = 64;

class QueueStream final : public TileStream {
 public:
  explicit QueueStream(const RingLayout& layout)
      : layout_(layout), slots_(layout.depth) {}

  ~QueueStream() override {
    if (!opened_) return;
    Drain();
    io_uring_queue_exit(&ring_);
  }

  absl::Status Start() {
    const int error = io_uring_queue_init(kMostRequests, &ring_, 0);
    if (error < 0) return absl::UnimplementedError(strerror(-error));
    opened_ = true;
    struct iovec slots;
    slots.iov_base = layout_.slots;
    slots.iov_len = static_cast<size_t>(layout_.depth * layout_.slot_bytes);
    // The kernel refuses this if the limit of locked memory is small. Then it
    // looks up the pages at each request; all else stays the same.
    registered_ =
        slots.iov_len > 0 && io_uring_register_buffers(&ring_, &slots, 1) == 0;
    Request();
    return absl::OkStatus();
  }

  absl::StatusOr<TileLease> Next() override {
    if (!failure_.ok()) return failure_;
    if (layout_.AtEnd(next_)) return EndOfSchedule(layout_.schedule.size());
    Slot& slot = slots_[layout_.FindSlot(next_)];
    if (slot.state == State::kLent) {
      return StillLent(layout_.IndexOf(next_), layout_.depth);
    }
    const int64_t begin = NowNanoseconds();
    Request();
    Answer(/*wait=*/false);
    while (failure_.ok() && !Complete(slot)) Answer(/*wait=*/true);
    absl::StatusOr<TileView> view = View(slot);
    const int64_t waited = NowNanoseconds() - begin;
    wait_nanoseconds_ += waited;
    if (!view.ok()) return failure_ = view.status();
    const Tile& tile = layout_.TileAt(next_);
    WeightCounters more;
    more.bytes_delivered = tile.size_bytes();
    // For a tile that is read again, Load counts these bytes.
    if (!slot.again) {
      more.bytes_around_rows = BytesAroundRows(tile, slot.bytes_read);
    }
    more.wait_nanoseconds = waited;
    layout_.store->Count(more);
    slot.state = State::kLent;
    const int64_t sequence = next_++;
    return MakeLease(this, layout_.FindSlot(sequence),
                     layout_.IndexOf(sequence), *view);
  }

  absl::Status Rewind(int64_t index) override {
    const absl::Status inside = CheckIndex(index, layout_);
    if (!inside.ok()) return inside;
    for (const Slot& slot : slots_) {
      if (slot.state == State::kLent) return LeasesRemain();
    }
    Drain();
    for (Slot& slot : slots_) slot = Slot();
    next_ = filling_ = index;
    Request();
    return failure_;
  }

  std::string Description() const override {
    return absl::StrCat("io_uring, ", layout_.depth, " slots, ",
                        registered_ ? "registered" : "unregistered",
                        " buffers; ", layout_.store->Description());
  }

 private:
  enum class State { kFree, kFilling, kLent };
  struct Slot {
    State state = State::kFree;
    // The tile is read again by Load, because a completion was short or an
    // error.
    bool again = false;
    int32_t requested = 0;  // runs
    int32_t answered = 0;
    int64_t bytes_read = 0;
  };

  void ReleaseSlot(int64_t slot) override {
    slots_[slot] = Slot();
    Request();
  }

  bool Complete(const Slot& slot) const {
    return slot.state == State::kFilling &&
           slot.answered == DirectRuns(layout_.TileAt(next_));
  }

  // Returns the tile that is complete in `slot`, after checking the file.
  absl::StatusOr<TileView> View(const Slot& slot) {
    if (!failure_.ok()) return failure_;
    const Tile& tile = layout_.TileAt(next_);
    char* data = layout_.SlotData(layout_.FindSlot(next_));
    if (slot.again) return layout_.store->Load(tile, data);
    absl::Status unchanged = layout_.store->CheckFile();
    if (!unchanged.ok()) return unchanged;
    return ArrangeDirectTile(tile, layout_.store->direct_block_bytes(), data);
  }

  // Queues requests for the free slots, in the order of the schedule.
  void Request() {
    if (!failure_.ok()) return;
    bool added = false;
    while (under_way_ < kMostRequests && !layout_.AtEnd(filling_) &&
           filling_ - next_ < layout_.depth) {
      Slot& slot = slots_[layout_.FindSlot(filling_)];
      if (slot.state == State::kLent) break;
      slot.state = State::kFilling;
      const Tile& tile = layout_.TileAt(filling_);
      if (slot.requested == DirectRuns(tile)) {
        ++filling_;
        continue;
      }
      Add(tile, layout_.FindSlot(filling_), slot.requested++);
      added = true;
    }
    if (!added) return;
    int error = 0;
    do {
      error = io_uring_submit(&ring_);
    } while (error == -EINTR);
    if (error < 0) Fail("io_uring takes no more requests", -error);
  }

  void Add(const Tile& tile, int64_t slot, int32_t run) {
    const DirectRun part =
        MakeDirectRun(tile, run, layout_.store->direct_block_bytes());
    char* data = layout_.SlotData(slot) + part.slot_offset;
    // An entry is free: never more requests are in flight than the queue has
    // entries.
    struct io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    const auto bytes = static_cast<unsigned>(part.read_bytes);
    const DirectPlace place = layout_.store->FindDirectPlace(part.offset_bytes);
    const auto offset = static_cast<uint64_t>(place.offset_bytes);
    if (registered_) {
      io_uring_prep_read_fixed(entry, place.descriptor, data, bytes, offset, 0);
    } else {
      io_uring_prep_read(entry, place.descriptor, data, bytes, offset);
    }
    entry->user_data = static_cast<uint64_t>(slot) << 32 |
                       static_cast<uint32_t>(part.needed_bytes);
    ++under_way_;
  }

  // Takes the available completions; with `wait`, waits for at least one.
  void Answer(bool wait) {
    // Requests that an earlier call could not submit would never complete.
    if (wait && io_uring_sq_ready(&ring_) > 0) io_uring_submit(&ring_);
    struct io_uring_cqe* entry = nullptr;
    int error = 0;
    do {
      error = wait ? io_uring_wait_cqe(&ring_, &entry)
                   : io_uring_peek_cqe(&ring_, &entry);
    } while (error == -EINTR);
    if (error < 0 && error != -EAGAIN) Fail("io_uring gives no answer", -error);
    WeightCounters more;
    while (error == 0) {
      Slot& slot = slots_[entry->user_data >> 32];
      const auto needed = static_cast<int32_t>(entry->user_data);
      if (entry->res < needed) slot.again = true;
      slot.bytes_read += std::max(0, entry->res);
      more.bytes_read += std::max(0, entry->res);
      ++more.reads;
      ++slot.answered;
      --under_way_;
      io_uring_cqe_seen(&ring_, entry);
      error = io_uring_peek_cqe(&ring_, &entry);
    }
    if (more.reads == 0) return;
    layout_.store->Count(more);
    Request();
  }

  // Waits until the kernel no longer writes to any slot.
  void Drain() {
    while (under_way_ > 0) {
      if (io_uring_sq_ready(&ring_) > 0) io_uring_submit(&ring_);
      struct io_uring_cqe* entry = nullptr;
      const int error = io_uring_wait_cqe(&ring_, &entry);
      if (error == -EINTR || error == -EAGAIN) continue;
      if (error < 0) return;
      --under_way_;
      io_uring_cqe_seen(&ring_, entry);
    }
  }

  void Fail(absl::string_view what, int error) {
    if (!failure_.ok()) return;
    failure_ = absl::UnavailableError(
        absl::StrCat(layout_.store->index().file_name(), ": ", what, ": ",
                     strerror(error), "; try avoid_io_uring"));
  }

  const RingLayout layout_;
  std::vector<Slot> slots_;
  struct io_uring ring_ = {};
  bool opened_ = false;
  bool registered_ = false;
  int under_way_ = 0;
  int64_t next_ = 0;
  int64_t filling_ = 0;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TileStream>> OpenQueueStream(
    const RingLayout& layout) {
  auto stream = std::make_unique<QueueStream>(layout);
  absl::Status started = stream->Start();
  if (!started.ok()) return started;
  return stream;
}

}  // namespace footprint::lowmem_internal

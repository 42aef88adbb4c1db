// Tiles read ahead by one thread, which waits where every slot is full.

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/tile_ring.h"

namespace footprint::lowmem_internal {
namespace {

class ThreadStream final : public TileStream {
 public:
  ThreadStream(const RingLayout& layout, std::string reason)
      : layout_(layout), reason_(std::move(reason)), slots_(layout.depth) {}

  ~ThreadStream() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start() {
    try {
      thread_ = std::thread([this] { ReadAhead(); });
    } catch (const std::system_error& error) {
      return absl::UnavailableError(
          absl::StrCat("no thread to read ahead: ", error.what(),
                       "; raise the limit of threads, or do not ask for one"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TileLease> Next() override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (layout_.AtEnd(next_)) {
      if (!failure_.ok()) return failure_;
      return EndOfSchedule(layout_.schedule.size());
    }
    Slot& slot = slots_[layout_.SlotOf(next_)];
    if (slot.state == State::kLent) {
      return StillLent(layout_.IndexOf(next_), layout_.depth);
    }
    const int64_t begin = NowNanoseconds();
    changed_.wait(
        lock, [&] { return slot.state == State::kReady || !failure_.ok(); });
    wait_nanoseconds_ += NowNanoseconds() - begin;
    // Tiles before the one that failed are good and are delivered.
    if (slot.state != State::kReady) return failure_;
    slot.state = State::kLent;
    const int64_t sequence = next_++;
    changed_.notify_all();
    return MakeLease(this, layout_.SlotOf(sequence), layout_.IndexOf(sequence),
                     slot.view);
  }

  absl::Status Rewind(int64_t index) override {
    const absl::Status inside = CheckIndex(index, layout_);
    if (!inside.ok()) return inside;
    std::unique_lock<std::mutex> lock(mutex_);
    for (const Slot& slot : slots_) {
      if (slot.state == State::kLent) return LeasesRemain();
    }
    changed_.wait(lock, [this] { return !reading_; });
    for (Slot& slot : slots_) slot.state = State::kFree;
    next_ = filling_ = index;
    changed_.notify_all();
    return failure_;
  }

  std::string Description() const override {
    return absl::StrCat(reason_, WeightBackendName(layout_.store->backend()),
                        ", read ahead by a thread, ", layout_.depth, " slots");
  }

 private:
  enum class State { kFree, kReady, kLent };
  struct Slot {
    State state = State::kFree;
    TileView view;
  };

  void ReleaseSlot(int64_t slot) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      slots_[slot].state = State::kFree;
    }
    changed_.notify_all();
  }

  // Under the lock.
  bool MayRead() const {
    return failure_.ok() && !layout_.AtEnd(filling_) &&
           filling_ - next_ < layout_.depth &&
           slots_[layout_.SlotOf(filling_)].state == State::kFree;
  }

  void ReadAhead() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || MayRead(); });
      if (stopping_) return;
      const int64_t sequence = filling_;
      const int64_t slot = layout_.SlotOf(sequence);
      reading_ = true;
      lock.unlock();
      absl::StatusOr<TileView> view =
          layout_.store->Load(layout_.TileOf(sequence), layout_.SlotData(slot));
      lock.lock();
      reading_ = false;
      if (view.ok()) {
        slots_[slot].view = *view;
        slots_[slot].state = State::kReady;
        ++filling_;
      } else {
        failure_ = view.status();
      }
      changed_.notify_all();
    }
  }

  const RingLayout layout_;
  const std::string reason_;
  // Of the standard library, so that ThreadSanitizer sees it.
  std::mutex mutex_;
  std::condition_variable changed_;
  // Everything below is touched under the lock only.
  std::vector<Slot> slots_;
  absl::Status failure_;
  int64_t next_ = 0;
  int64_t filling_ = 0;
  bool reading_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TileStream>> OpenThreadStream(
    const RingLayout& layout, std::string reason) {
  auto stream = std::make_unique<ThreadStream>(layout, std::move(reason));
  absl::Status started = stream->Start();
  if (!started.ok()) return started;
  return stream;
}

}  // namespace footprint::lowmem_internal

// A stream whose tiles one thread reads ahead. The thread waits while every
// slot is full.

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/threads/mutex.h"
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
      MutexLock lock(&mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start() {
    try {
      thread_ = std::thread([this] { ReadAhead(); });
    } catch (const std::system_error& error) {
      return absl::UnavailableError(
          absl::StrCat("no thread to read ahead: ", error.what(),
                       "; raise the limit of threads, or use a backend that "
                       "reads without one"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TileLease> Next() override {
    MutexLock lock(&mutex_);
    if (layout_.AtEnd(next_)) {
      if (!failure_.ok()) return failure_;
      return EndOfSchedule(layout_.schedule.size());
    }
    Slot& slot = slots_[layout_.FindSlot(next_)];
    if (slot.state == State::kLent) {
      return StillLent(layout_.IndexOf(next_), layout_.depth);
    }
    const int64_t begin = NowNanoseconds();
    while (slot.state != State::kReady && failure_.ok()) changed_.Wait(&mutex_);
    wait_nanoseconds_ += NowNanoseconds() - begin;
    // Tiles before the failed one are valid and are delivered.
    if (slot.state != State::kReady) return failure_;
    slot.state = State::kLent;
    const int64_t sequence = next_++;
    changed_.NotifyAll();
    return MakeLease(this, layout_.FindSlot(sequence),
                     layout_.IndexOf(sequence), slot.view);
  }

  absl::Status Rewind(int64_t index) override {
    const absl::Status inside = CheckIndex(index, layout_);
    if (!inside.ok()) return inside;
    MutexLock lock(&mutex_);
    for (const Slot& slot : slots_) {
      if (slot.state == State::kLent) return LeasesRemain();
    }
    while (reading_) changed_.Wait(&mutex_);
    for (Slot& slot : slots_) slot.state = State::kFree;
    next_ = filling_ = index;
    changed_.NotifyAll();
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
      MutexLock lock(&mutex_);
      slots_[slot].state = State::kFree;
    }
    changed_.NotifyAll();
  }

  bool MayRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return failure_.ok() && !layout_.AtEnd(filling_) &&
           filling_ - next_ < layout_.depth &&
           slots_[layout_.FindSlot(filling_)].state == State::kFree;
  }

  void ReadAhead() {
    MutexLock lock(&mutex_);
    for (;;) {
      while (!stopping_ && !MayRead()) changed_.Wait(&mutex_);
      if (stopping_) return;
      const int64_t sequence = filling_;
      const int64_t slot = layout_.FindSlot(sequence);
      reading_ = true;
      absl::StatusOr<TileView> view = ReadTile(sequence);
      reading_ = false;
      if (view.ok()) {
        slots_[slot].view = *view;
        slots_[slot].state = State::kReady;
        ++filling_;
      } else {
        failure_ = view.status();
      }
      changed_.NotifyAll();
    }
  }

  // Releases the lock during the read, so that tiles can be lent and released.
  absl::StatusOr<TileView> ReadTile(int64_t sequence)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    MutexUnlock unlock(&mutex_);
    return layout_.store->Load(layout_.TileAt(sequence),
                               layout_.SlotData(layout_.FindSlot(sequence)));
  }

  const RingLayout layout_;
  const std::string reason_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t filling_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
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

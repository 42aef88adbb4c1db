// Admits runs so that their limits together stay within the memory that this
// host has for them: no run is killed because others run beside it.
//
//   MemoryAdmission admission(MemoryAdmission::BytesForRuns(available_bytes));
//   const MemoryAdmission::Share share = admission.Await(run.limit_bytes);
//   ...                                   // the run; then the share goes back
//
// `Await` waits until the bytes are free. Shares are given in the order in
// which they are asked for, so that a large run is not passed over for ever.
// Whoever holds a share asks for no second one, or two could wait for each
// other.
//
// Thread-safe. The admission outlives its shares, which own nothing but their
// bytes; it allocates nothing. Memory: 150 bytes. A share cannot fail: a caller
// asks for at most `total_bytes`, and gets no more than that, so there is no
// status.

#ifndef FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_
#define FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class MemoryAdmission {
 public:
  // Bytes of a run, which go back with this. Movable.
  class Share {
   public:
    Share(Share&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          bytes_(other.bytes_) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (admission_ != nullptr) admission_->Return(bytes_);
    }

   private:
    friend class MemoryAdmission;
    Share(MemoryAdmission* admission, int64_t bytes)
        : admission_(admission), bytes_(bytes) {}

    MemoryAdmission* admission_;
    int64_t bytes_;
  };

  // Leaves an eighth of what is available to the server, the kernel and others.
  static int64_t BytesForRuns(int64_t available_bytes) {
    return available_bytes - available_bytes / 8;
  }

  explicit MemoryAdmission(int64_t total_bytes)
      : total_bytes_(total_bytes), free_bytes_(total_bytes) {}
  MemoryAdmission(const MemoryAdmission&) = delete;
  MemoryAdmission& operator=(const MemoryAdmission&) = delete;

  // Waits for `bytes`, or for all where they are more.
  Share Await(int64_t bytes);

  // No run gets more.
  int64_t total_bytes() const { return total_bytes_; }
  // Returns how many asked and have no share yet.
  int64_t waiting_count();

 private:
  void Return(int64_t bytes);

  const int64_t total_bytes_;
  Mutex mutex_;
  CondVar changed_;
  int64_t free_bytes_ ABSL_GUARDED_BY(mutex_);
  // The numbers of who comes next, and of who is served now.
  int64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t served_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_

// Admits runs so that the sum of their limits stays within the memory that this
// host has for them. So no run is killed because others run at the same time.
//
//   MemoryAdmission admission(MemoryAdmission::BytesForRuns(available_bytes));
//   const MemoryAdmission::Share share = admission.Await(run.limit_bytes);
//   ...                                   // run; then the share is returned
//
// `Await` waits until the bytes are free. Shares are granted in the order of
// the calls, so that a large run does not starve. A thread that holds a share
// must not await a second one, or two threads could wait for each other.
//
// Thread-safe. The admission must outlive its shares. Allocates nothing.
// Memory: 120 bytes on x86-64 Linux. `Await` cannot fail: nobody gets more than
// `total_bytes`, which must not be negative.

#ifndef FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_
#define FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class MemoryAdmission {
 public:
  // The bytes of a run, which the destructor returns. It can be moved to a new
  // share, but not assigned.
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

  // Returns the bytes for runs: all available bytes but an eighth, which is
  // left to the server, the kernel and others.
  static int64_t BytesForRuns(int64_t available_bytes) {
    return available_bytes - available_bytes / 8;
  }

  explicit MemoryAdmission(int64_t total_bytes)
      : total_bytes_(total_bytes), free_bytes_(total_bytes) {}
  MemoryAdmission(const MemoryAdmission&) = delete;
  MemoryAdmission& operator=(const MemoryAdmission&) = delete;

  // Waits until `bytes` are free and returns a share of them; a share of all
  // bytes if `bytes` are more.
  Share Await(int64_t bytes);

  // Returns the most bytes that a run can get.
  int64_t total_bytes() const { return total_bytes_; }
  // Returns the number of callers that wait for a share.
  int64_t waiting_count();

 private:
  void Return(int64_t bytes);

  const int64_t total_bytes_;
  Mutex mutex_;
  CondVar changed_;
  int64_t free_bytes_ ABSL_GUARDED_BY(mutex_);
  // Ticket numbers: of the next caller, and of the caller that is served now.
  int64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t served_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_MEMORY_ADMISSION_H_

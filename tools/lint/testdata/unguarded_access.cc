// Planted faults for check_locks_test.py: each line that ends in `// found`
// breaks a rule of the annotations, and clang must report exactly these lines.

#include <cstdint>

#include "footprint/base/threads/mutex.h"
#include "footprint/base/threads/pthread_mutex.h"

namespace footprint {

class Counter {
 public:
  void Add(int64_t bytes) {
    MutexLock lock(&mutex_);
    bytes_ += bytes;
    if (bytes_ > peak_bytes_) RaisePeak();
  }
  int64_t bytes() const {
    return bytes_;  // found
  }
  void AddUnlocked(int64_t bytes) {
    {
      MutexLock lock(&mutex_);
      bytes_ += bytes;
    }
    RaisePeak();  // found
  }
  void Wait() {
    changed_.Wait(&mutex_);  // found
  }
  void AddOutside(int64_t bytes) {
    MutexLock lock(&mutex_);
    MutexUnlock unlock(&mutex_);
    bytes_ += bytes;  // found
  }

 private:
  void RaisePeak() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    peak_bytes_ = bytes_;
  }

  Mutex mutex_;
  CondVar changed_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t peak_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

PthreadMutex lock = PthreadMutex::Adaptive();
int64_t live_bytes ABSL_GUARDED_BY(lock) = 0;

void Add(int64_t bytes) {
  PthreadMutexLock guard(&lock);
  live_bytes += bytes;
}

int64_t LiveBytes() {
  return live_bytes;  // found
}

void TryToAdd(int64_t bytes) {
  if (lock.TryLock()) {
    live_bytes += bytes;
    lock.Unlock();
  } else {
    live_bytes -= bytes;  // found
  }
}

void BeforeFork() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) { lock.Lock(); }

void AfterFork() ABSL_UNLOCK_FUNCTION(lock) {
  lock.Unlock();
  live_bytes = 0;  // found
}

void LeavesItLocked(int64_t bytes) {
  lock.Lock();
  live_bytes = bytes;
}  // found

}  // namespace footprint

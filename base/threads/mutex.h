// A mutex whose use Clang checks: code that uses a GUARDED_BY member without
// the lock does not compile (`tools/dev lint locks`).
//
//   class Counter {
//    public:
//     void Add(int64_t bytes) {
//       MutexLock lock(&mutex_);
//       bytes_ += bytes;
//       changed_.NotifyAll();
//     }
//     void AwaitBytes(int64_t bytes) {
//       MutexLock lock(&mutex_);
//       while (bytes_ < bytes) changed_.Wait(&mutex_);
//     }
//
//    private:
//     Mutex mutex_;
//     CondVar changed_;
//     int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
//   };
//
// The standard library's mutex and condition variable are inside, since
// ThreadSanitizer sees those, and not the absl::Mutex that Debian built. The
// names and annotations are Abseil's (absl/base/thread_annotations.h).
//
// Thread-safe. Memory: 40 bytes for a mutex and 48 for a condition variable on
// x86-64 Linux, nothing on the heap. Destroying a Mutex does nothing, so a
// Mutex in static storage outlives every thread.

#ifndef FOOTPRINT_BASE_THREADS_MUTEX_H_
#define FOOTPRINT_BASE_THREADS_MUTEX_H_

#include <condition_variable>
#include <mutex>
#include <type_traits>

#include "absl/base/thread_annotations.h"

// Says that an object releases the mutex while it lives; Abseil has no macro
// for that.
#if defined(__clang__)
#define FOOTPRINT_RELEASES_FOR_SCOPE(mutex) \
  __attribute__((release_capability(mutex)))
#else
#define FOOTPRINT_RELEASES_FOR_SCOPE(mutex)
#endif

namespace footprint {

class ABSL_LOCKABLE Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // Tells the compiler that the caller holds the mutex, where it cannot see
  // that: in a lambda that is called under the lock.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

static_assert(std::is_trivially_destructible_v<Mutex>);

// Holds a mutex for the length of a scope.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Releases a mutex that the caller holds for the length of a scope, however the
// scope ends.
class ABSL_SCOPED_LOCKABLE MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mutex) FOOTPRINT_RELEASES_FOR_SCOPE(mutex)
      : mutex_(mutex) {
    mutex_->Unlock();
  }
  // Takes the mutex again. Clang's annotation for the end of a scope is this
  // one.
  ~MutexUnlock() ABSL_UNLOCK_FUNCTION() { mutex_->Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex* const mutex_;
};

class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases the mutex, waits for a Notify, and takes the mutex again. It may
  // return without a Notify, so call it in a loop. A cancelled thread
  // (pthread_cancel) leaves with the mutex held.
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    // This returns the borrowed mutex without unlocking it, also if wait
    // throws.
    struct Borrowed {
      explicit Borrowed(std::mutex& mutex) : lock(mutex, std::adopt_lock) {}
      ~Borrowed() { lock.release(); }
      std::unique_lock<std::mutex> lock;
    } borrowed(mutex->mutex_);
    condition_.wait(borrowed.lock);
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_THREADS_MUTEX_H_

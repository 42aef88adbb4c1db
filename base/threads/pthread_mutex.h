// A mutex for code that must not use the C++ library: inside malloc, in fork's
// handlers, or inside a program that is not ours. It calls only the C library.
// Clang checks its use, as for mutex.h (`tools/dev lint locks`).
//
//   PthreadMutex lock = PthreadMutex::Adaptive();
//   int64_t live_bytes ABSL_GUARDED_BY(lock) = 0;
//
//   void Add(int64_t bytes) {
//     PthreadMutexLock guard(&lock);
//     live_bytes += bytes;
//   }
//
//   void BeforeFork() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) { lock.Lock(); }
//   void AfterFork() ABSL_UNLOCK_FUNCTION(lock) { lock.Unlock(); }
//   ... pthread_atfork(BeforeFork, AfterFork, AfterFork);
//
// Use Mutex elsewhere, which has a condition variable.
//
// Thread-safe. Memory: 40 bytes on x86-64 Linux, nothing on the heap. In static
// storage it needs no code before main, and outlives every thread. Lock does
// not return if the calling thread already holds the mutex.

#ifndef FOOTPRINT_BASE_THREADS_PTHREAD_MUTEX_H_
#define FOOTPRINT_BASE_THREADS_PTHREAD_MUTEX_H_

#include <pthread.h>

#include "absl/base/thread_annotations.h"

namespace footprint {

class ABSL_LOCKABLE PthreadMutex {
 public:
  constexpr PthreadMutex() : mutex_(PTHREAD_MUTEX_INITIALIZER) {}
  // Returns a mutex that spins for a while before it sleeps, for locks that are
  // held for some nanoseconds.
  static constexpr PthreadMutex Adaptive() {
    return PthreadMutex(pthread_mutex_t PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP);
  }
  PthreadMutex(const PthreadMutex&) = delete;
  PthreadMutex& operator=(const PthreadMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { pthread_mutex_lock(&mutex_); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { pthread_mutex_unlock(&mutex_); }
  // Locks the mutex and returns true, or returns false if any thread holds it.
  [[nodiscard]] bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    return pthread_mutex_trylock(&mutex_) == 0;
  }
  // Unlocks the mutex, whichever of the parent's threads held it. Call it on
  // the only thread of a child process that began without fork's handlers.
  void ResetInChild() {
    const int kind = mutex_.__data.__kind;
    mutex_ = pthread_mutex_t PTHREAD_MUTEX_INITIALIZER;
    mutex_.__data.__kind = kind;
  }
  // Tells the compiler that the caller holds the mutex, where it cannot see
  // that: in a lambda or a callback that is called under the lock.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}
  // Returns the kernel's number of the thread that holds the mutex, as gettid
  // returns it. Returns 0 if no thread holds it, or if it is just being taken
  // or released.
  int owner_thread() const {
    return __atomic_load_n(&mutex_.__data.__owner, __ATOMIC_RELAXED);
  }

 private:
  explicit constexpr PthreadMutex(pthread_mutex_t mutex) : mutex_(mutex) {}

  pthread_mutex_t mutex_;
};

// Holds a mutex for the length of a scope.
class ABSL_SCOPED_LOCKABLE PthreadMutexLock {
 public:
  explicit PthreadMutexLock(PthreadMutex* mutex)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~PthreadMutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  PthreadMutexLock(const PthreadMutexLock&) = delete;
  PthreadMutexLock& operator=(const PthreadMutexLock&) = delete;

 private:
  PthreadMutex* const mutex_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_THREADS_PTHREAD_MUTEX_H_

// The counters of the process and of its threads, and the thresholds by which a
// thread knows that the process may have a new peak.
//
//   ProcessLock lock;
//   const int64_t live_bytes = SumLiveBytes(nullptr, 0);
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing and uses no library that might.
//
// Each thread has its own counters and a threshold for its live bytes.
// Invariant: the sum of all thresholds, plus the bytes that ended threads left
// live, is at most the peak since the last phase event. While no thread is
// above its threshold, there is no new peak. A thread that passes its threshold
// takes the lock and sums.
//
// Only allocations raise the live bytes. So a thread computes how much it may
// allocate before it can reach its threshold, and checks again when that is
// used up; a free is never checked. Threads share the room below the peak
// equally.
//
// Other threads run on while one thread sums. A sum is too high only by the
// bytes that a thread freed after it was read, because another may have grown
// by as much before it was read. So a sum during which a thread freed more than
// 4 KiB is repeated. After some attempts, all other threads are made to wait at
// their next allocation. A sum is then within 4 KiB per thread of the bytes
// that were live at one moment.
//
// Each thread owns its counters, which lie in its thread-local storage, so
// pointers to them are valid until the thread ends. Thread-safety: as
// annotated; nearly everything needs ProcessLock. Only the thread itself adds
// to the first part of its ThreadCounters; others may take back its grants.

#ifndef FOOTPRINT_PROFILING_HEAP_PROCESS_COUNTERS_H_
#define FOOTPRINT_PROFILING_HEAP_PROCESS_COUNTERS_H_

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/heap_metrics.h"
#include "footprint/profiling/heap/published_heap.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {

// A counter that stays zero. A thread's counters point to it until the thread
// is registered.
extern const uint64_t kNoBytes;

// See thread_records.h.
struct ThreadRecord;
struct ThreadCounters;

// The counter of requested bytes, if there is one; see requested_bytes.h.
struct RequestedBytesCounter {
  int64_t (*live_bytes)();
  // The peak since the last call; the next peak begins at the live bytes.
  int64_t (*take_peak_absolute_bytes)();
};

struct Totals {
  int64_t live_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;

  void Add(const ThreadCounters& counters);
};

// A value for each HeapQuantity.
class Quantities {
 public:
  int64_t& operator[](HeapQuantity quantity) {
    return values_[static_cast<int>(quantity)];
  }
  int64_t operator[](HeapQuantity quantity) const {
    return values_[static_cast<int>(quantity)];
  }
  void RaiseTo(const Quantities& others) {
    for (int i = 0; i < kHeapQuantityCount; ++i) {
      values_[i] = std::max(values_[i], others.values_[i]);
    }
  }

 private:
  int64_t values_[kHeapQuantityCount] = {};
};

// The phase that began with the process's first allocation.
inline constexpr int kProcessPhase = 0;

struct Phase {
  bool open = false;
  Quantities begin;
  Quantities peak;
  // The sum of the peaks of threads that ended in the phase and have no creator
  // that could join them.
  int64_t ended_thread_peak_net_bytes = 0;
  int ended_root_count = 0;
  bool ended_roots_overlap = false;
  int ended_active_thread_count = 0;
};

struct ProcessCounters {
  // The lock spins before it sleeps, because it is held only for nanoseconds.
  PthreadMutex lock = PthreadMutex::Adaptive();
  // Whether the kernel offers Membarrier().
  bool can_synchronise ABSL_GUARDED_BY(lock) = false;
  bool in_use ABSL_GUARDED_BY(lock) = false;
  pthread_key_t thread_end_key ABSL_GUARDED_BY(lock) = 0;
  ThreadCounters* first_thread ABSL_GUARDED_BY(lock) = nullptr;
  int thread_count ABSL_GUARDED_BY(lock) = 0;
  ThreadRecord* first_record ABSL_GUARDED_BY(lock) = nullptr;
  ThreadRecord* free_records ABSL_GUARDED_BY(lock) = nullptr;
  uint64_t record_count ABSL_GUARDED_BY(lock) = 0;
  PhaseSet open_phases ABSL_GUARDED_BY(lock) = 0;
  // The peak since the last phase event.
  int64_t peak_absolute_bytes ABSL_GUARDED_BY(lock) = 0;
  // The sum of all threads' thresholds.
  int64_t sum_of_thresholds ABSL_GUARDED_BY(lock) = 0;
  // The number of threads that the program created and has not joined so far.
  // They may allocate at any time, even after they gave up their counters.
  int unjoined_thread_count ABSL_GUARDED_BY(lock) = 0;
  // Whether a thread was created that the entry points did not see; another
  // such thread may begin at any time.
  bool has_unknown_threads ABSL_GUARDED_BY(lock) = false;
  // Totals of threads that ended.
  Totals ended ABSL_GUARDED_BY(lock);
  int64_t mapped_bytes ABSL_GUARDED_BY(lock) = 0;
  int64_t mapped_peak_absolute_bytes ABSL_GUARDED_BY(lock) = 0;
  Phase phases[kMaxOpenPhases] ABSL_GUARDED_BY(lock);
  const RequestedBytesCounter* requested ABSL_GUARDED_BY(lock) = nullptr;
  // The published figures, or null if nobody reads them. Written under the
  // lock; the only thread reads it without the lock to publish a new peak.
  PublishedHeap* published = nullptr;
  // See sample_schedule.h.
  int64_t sampling_interval_bytes ABSL_GUARDED_BY(lock) = -1;
  bool has_recorded_blocks ABSL_GUARDED_BY(lock) = false;
  std::atomic<int> forked_process_count{0};
};

extern ProcessCounters process;

// The function that continues a free of the program; see
// allocation_entry_points.cc.
using FreeFunction = void (*)(void* block);
// Frees for a thread that is not registered. Null if the entry points are not
// linked.
extern "C" __attribute__((weak)) void footprint_first_free(void* block);

// One thread's counters, in the thread's own storage. The thread writes the
// members up to `state`; whoever holds the process's lock may also set
// budget_bytes and check_at_bytes to zero, and may write the members after
// `state`. They lie on cache lines of their own from peak_absolute_bytes on, so
// that a sum does not take away the cache lines that the thread writes in each
// call. allocation_entry_points.cc depends on the offsets of the first members.
struct alignas(64) ThreadCounters {
  enum class State : int { kNew, kRegistered, kEnded };

  // jemalloc's own counters of the thread.
  const uint64_t* allocated_bytes = &kNoBytes;
  const uint64_t* deallocated_bytes = &kNoBytes;
  std::atomic<int64_t> allocation_count{0};
  // Bytes that the only thread may still request without a check; see
  // heap_counters.h. Zero while there are several threads.
  std::atomic<uint64_t> budget_bytes{0};
  // While there are several threads, an allocation needs a check unless
  // `*allocated_bytes` plus the requested size is at most this. Zero makes the
  // next allocation check.
  std::atomic<uint64_t> check_at_bytes{0};
  // Bytes that stayed in place in a realloc. jemalloc counts them twice.
  std::atomic<int64_t> kept_in_place_bytes{0};
  State state = State::kNew;
  // The function by which this thread frees. Each thread has its own, so that a
  // free need not test whether its thread is registered. Any thread may write
  // it, under the lock; this is rare.
  FreeFunction free_function = footprint_first_free;
  // Other threads also write the members from here on, under the lock.
  //
  // The high-water mark of its live bytes since the last phase event, or the
  // last creation or join by this thread.
  alignas(64) std::atomic<int64_t> peak_absolute_bytes{INT64_MIN};
  // An allocation that lifts the live bytes above this takes the lock.
  std::atomic<int64_t> threshold_bytes{INT64_MIN};
  // Copies of the first two members, for threads that sum.
  const uint64_t* summed_allocated_from = &kNoBytes;
  const uint64_t* summed_deallocated_from = &kNoBytes;
  // The values that one sum over all threads read, under the lock.
  int64_t summed_live_bytes ABSL_GUARDED_BY(process.lock) = 0;
  uint64_t summed_allocated_bytes ABSL_GUARDED_BY(process.lock) = 0;
  uint64_t summed_deallocated_bytes ABSL_GUARDED_BY(process.lock) = 0;
  int64_t threshold_before_hold_bytes ABSL_GUARDED_BY(process.lock) = 0;
  // An allocation that raises `*allocated_bytes` to this is a sample.
  uint64_t sample_at_bytes = UINT64_MAX;
  uint64_t sample_number = 0;
  // The thread's record; if `record_number` is not the record's number, the
  // record is another thread's by now.
  ThreadRecord* record ABSL_GUARDED_BY(process.lock) = nullptr;
  uint64_t record_number = 0;
  ThreadCounters* next ABSL_GUARDED_BY(process.lock) = nullptr;
  // The number of calls that mapped or unmapped.
  uint64_t mapping_count ABSL_GUARDED_BY(process.lock) = 0;

  int64_t live_bytes() const {
    return static_cast<int64_t>(
        __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) -
        __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED));
  }
  uint64_t activity() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
    return __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) +
           __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED) + mapping_count;
  }
};

// `__thread`, unlike thread_local, needs no wrapper function around each use.
// The assembler code uses the plain name.
extern __thread ThreadCounters thread_counters __asm__(
    "footprint_thread_counters") __attribute__((tls_model("initial-exec")));

inline void Totals::Add(const ThreadCounters& counters) {
  live_bytes += counters.live_bytes();
  allocated_bytes += static_cast<int64_t>(__atomic_load_n(
                         counters.allocated_bytes, __ATOMIC_RELAXED)) -
                     counters.kept_in_place_bytes.load();
  allocation_count += counters.allocation_count.load();
}

// Whether the first thread is the only one that can allocate. It is written
// under the lock and every check reads it without the lock, so it has its own
// cache line, away from members that are written often.
struct alignas(64) FlagOnOwnCacheLine : std::atomic<bool> {
  using std::atomic<bool>::atomic;
};
extern FlagOnOwnCacheLine has_one_thread;

// Brings the process's sum of thresholds and peak up to date: the only thread
// raises its threshold without the lock.
void SettlePeakOfOnlyThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// True while this thread holds the process's lock, takes it or gives it back. A
// signal handler must not wait for the lock then. Volatile, because a handler
// reads it.
extern __thread volatile bool uses_process_lock
    __attribute__((tls_model("initial-exec")));

// Also settles the peak of the only thread.
void LockProcess() ABSL_EXCLUSIVE_LOCK_FUNCTION(process.lock);
void UnlockProcess() ABSL_UNLOCK_FUNCTION(process.lock);

class ABSL_SCOPED_LOCKABLE ProcessLock {
 public:
  ProcessLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(process.lock) { LockProcess(); }
  ~ProcessLock() ABSL_UNLOCK_FUNCTION() { UnlockProcess(); }
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;
};

// Returns the published stage that the process is in; needs no lock.
uint32_t CurrentStage();

// Sets whether the phase is open.
void SetOpen(int phase, bool is_open)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Recomputes has_one_thread. Call it after the counts of threads changed.
void FindWhetherOneThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// ChooseFreeFunctions sets each thread's free_function. It is called when
// has_one_thread, the sampling interval or has_recorded_blocks changed, since
// the entry points decide by these whether frees must be checked.
// ChooseThreadFreeFunction does so for a thread that was just registered or
// removed. Both are weak: null if the entry points are not linked.
__attribute__((weak)) void ChooseFreeFunctions()
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);
__attribute__((weak)) void ChooseThreadFreeFunction(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Makes the thread's next allocation check for a new peak.
void ForceLook(ThreadCounters* counters);

// Sets the threshold of a registered thread, and updates the sum of thresholds.
void SetThreshold(ThreadCounters* counters, int64_t threshold_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Returns the live bytes of all threads, with `counters` at `level_bytes`; null
// means that every thread counts with its own live bytes.
int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Raises the peak to `sum_bytes`, which were live at once.
void RaisePeak(int64_t sum_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Raises the peak for the calling thread if it is the only one; takes no lock.
// Returns false if it is not, or if another thread began meanwhile; then the
// caller must check under the lock.
bool RaisePeakOfOnlyThread(ThreadCounters* counters);

// Gives every thread an equal share of the room below the peak, after
// SumLiveBytes returned `sum_bytes`.
void ShareHeadroom(int64_t sum_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Raises the calling thread's threshold after its live bytes passed it, and
// raises the peak if all threads together passed the peak.
void RaiseThreshold(ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

// Tested by heap_counters_test and thread_creation_test, too.

#endif  // FOOTPRINT_PROFILING_HEAP_PROCESS_COUNTERS_H_

// The counters of the process and of its threads, and the thresholds by which a
// thread knows that the process may have a new peak.
//
//   ProcessLock lock;
//   const int64_t live_bytes = SumLiveBytes(nullptr, 0);
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing and uses no library that might.
//
// Each thread has counters of its own and a threshold for its live bytes.
// Invariant: the sum of all thresholds, and of the bytes that ended threads
// left live, is at most the peak known so far. No thread above its threshold
// means no new peak; a thread that passes it takes the lock and sums.
//
// Live bytes rise in allocations only, so a thread computes how much it may be
// handed out before it can reach its threshold, and looks when that is used up;
// a free is never looked at. The room below the peak is shared out equally.
//
// Threads run on while one sums. A sum is too high for every moment only by the
// bytes that a thread freed after it was read, since another may have grown by
// as much before it was read. So a sum in which one freed more than 4 KiB is
// taken again; after some attempts all others are held up at their next
// allocation. A sum is then within 4 KiB a thread of the bytes that were live
// at a moment.
//
// A thread's counters are owned by the thread and lie in its storage: pointers
// to them are valid until it ends. Thread-safety: as annotated; nearly
// everything needs ProcessLock. The thread itself writes its ThreadCounters.

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

// Zero; counters point to it until the thread is registered.
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
  // The peak of threads that ended in the phase and that nobody joins.
  int64_t ended_thread_peak_net_bytes = 0;
  int ended_root_count = 0;
  bool ended_roots_overlap = false;
  int ended_active_thread_count = 0;
};

struct ProcessCounters {
  // Adaptive: it is held for some nanoseconds, too short to sleep for.
  PthreadMutex lock = PthreadMutex::Adaptive();
  // Returns whether the kernel offers Membarrier().
  bool can_synchronise ABSL_GUARDED_BY(lock) = false;
  bool in_use ABSL_GUARDED_BY(lock) = false;
  pthread_key_t thread_end_key ABSL_GUARDED_BY(lock) = 0;
  ThreadCounters* first_thread ABSL_GUARDED_BY(lock) = nullptr;
  int thread_count ABSL_GUARDED_BY(lock) = 0;
  ThreadRecord* first_record ABSL_GUARDED_BY(lock) = nullptr;
  ThreadRecord* free_records ABSL_GUARDED_BY(lock) = nullptr;
  uint64_t record_count ABSL_GUARDED_BY(lock) = 0;
  PhaseSet open_phases ABSL_GUARDED_BY(lock) = 0;
  // Since the last phase event.
  int64_t peak_absolute_bytes ABSL_GUARDED_BY(lock) = 0;
  // The sum of all threads' thresholds.
  int64_t sum_of_thresholds ABSL_GUARDED_BY(lock) = 0;
  // Threads that the program created and that nobody has joined so far: they
  // may call at any time, also after they gave up their counters.
  int unjoined_thread_count ABSL_GUARDED_BY(lock) = 0;
  // Threads of whose creation nobody told: one more may begin at any time.
  bool has_unknown_threads ABSL_GUARDED_BY(lock) = false;
  // Totals of threads that ended.
  Totals ended ABSL_GUARDED_BY(lock);
  int64_t mapped_bytes ABSL_GUARDED_BY(lock) = 0;
  int64_t mapped_peak_absolute_bytes ABSL_GUARDED_BY(lock) = 0;
  Phase phases[kMaxOpenPhases] ABSL_GUARDED_BY(lock);
  const RequestedBytesCounter* requested ABSL_GUARDED_BY(lock) = nullptr;
  // The heap that is published; null: nobody reads. Written under the lock, and
  // read without: the only thread raises the peak so.
  PublishedHeap* published = nullptr;
  // See sample_schedule.h.
  int64_t sampling_interval_bytes ABSL_GUARDED_BY(lock) = -1;
  bool has_recorded_blocks ABSL_GUARDED_BY(lock) = false;
  std::atomic<int> forked_process_count{0};
};

extern ProcessCounters process;

// How a free of the program goes on: see allocation_entry_points.cc.
using FreeWay = void (*)(void* block);
// The way of a thread that is not registered. Absent without the entry points.
extern "C" __attribute__((weak)) void footprint_first_free(void* block);

// One thread's counters, in the thread's own storage. The thread writes them,
// except for what the holder of the process's lock may write: everything after
// `state`, on cache lines of its own: to sum takes none away that the thread
// writes in each call. allocation_entry_points.cc knows the places of the first
// ones.
struct alignas(64) ThreadCounters {
  enum class State : int { kNew, kRegistered, kEnded };

  // jemalloc's own counters of the thread.
  const uint64_t* allocated_bytes = &kNoBytes;
  const uint64_t* deallocated_bytes = &kNoBytes;
  std::atomic<int64_t> allocation_count{0};
  // Bytes that the only thread may still ask for without a look; see
  // heap_counters.h. Zero among several threads.
  std::atomic<uint64_t> budget_bytes{0};
  // Among several threads: an allocation needs a look unless
  // `*allocated_bytes` and the size that is asked for are at most this
  // together. Zero: the next one does.
  std::atomic<uint64_t> check_at_bytes{0};
  // Bytes that a realloc in place kept: jemalloc counts them again.
  std::atomic<int64_t> kept_in_place_bytes{0};
  State state = State::kNew;
  // Among several threads each one's own, so that a free need not ask whether
  // its thread is registered. Written under the lock by any thread, seldom.
  FreeWay free_way = footprint_first_free;
  // Members from here on are also written by others, under the lock.
  //
  // The high-water mark of its live bytes since the last phase event, creation
  // or join by this thread.
  alignas(64) std::atomic<int64_t> peak_absolute_bytes{INT64_MIN};
  // An allocation that lifts the live bytes above this takes the lock.
  std::atomic<int64_t> threshold_bytes{INT64_MIN};
  // The first two again, for those who sum.
  const uint64_t* summed_allocated_from = &kNoBytes;
  const uint64_t* summed_deallocated_from = &kNoBytes;
  // Read under the lock for one sum over all threads.
  int64_t summed_live_bytes ABSL_GUARDED_BY(process.lock) = 0;
  uint64_t summed_allocated_bytes ABSL_GUARDED_BY(process.lock) = 0;
  uint64_t summed_deallocated_bytes ABSL_GUARDED_BY(process.lock) = 0;
  int64_t threshold_before_hold_bytes ABSL_GUARDED_BY(process.lock) = 0;
  // An allocation that lifts `*allocated_bytes` to this is a sample.
  uint64_t sample_at_bytes = UINT64_MAX;
  uint64_t sample_number = 0;
  // Another thread's since, if the numbers differ.
  ThreadRecord* record ABSL_GUARDED_BY(process.lock) = nullptr;
  uint64_t record_number = 0;
  ThreadCounters* next ABSL_GUARDED_BY(process.lock) = nullptr;
  // Calls that mapped or unmapped.
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

// __thread, not thread_local: no wrapper function around each use.
// The plain name is for assembly.
extern __thread ThreadCounters thread_counters __asm__(
    "footprint_thread_counters") __attribute__((tls_model("initial-exec")));

inline void Totals::Add(const ThreadCounters& counters) {
  live_bytes += counters.live_bytes();
  allocated_bytes += static_cast<int64_t>(__atomic_load_n(
                         counters.allocated_bytes, __ATOMIC_RELAXED)) -
                     counters.kept_in_place_bytes.load();
  allocation_count += counters.allocation_count.load();
}

// Whether the first thread is the only one that can call. Written under the
// lock, and read without by every look: what is written often would take the
// cache line away.
struct alignas(64) FlagOnOwnCacheLine : std::atomic<bool> {
  using std::atomic<bool>::atomic;
};
extern FlagOnOwnCacheLine has_one_thread;

// The only thread raises its threshold without the lock, and the peak with it.
void SettlePeakOfOnlyThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

class ABSL_SCOPED_LOCKABLE ProcessLock {
 public:
  ProcessLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(process.lock) {
    process.lock.Lock();
    SettlePeakOfOnlyThread();
  }
  ~ProcessLock() ABSL_UNLOCK_FUNCTION() { process.lock.Unlock(); }
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;
};

// The stage that the process is in, as it is published; needs no lock.
uint32_t CurrentStage();

void SetOpen(int phase, bool is_open)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Called after the counts of threads changed.
void FindWhetherOneThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Called when has_one_thread, the sampling interval or has_recorded_blocks
// changed, by which the entry points decide whether frees must be looked at:
// gives each thread its way. The second is for a thread that was registered or
// removed just now. Weak: null without them.
__attribute__((weak)) void ChooseFreeWays()
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);
__attribute__((weak)) void ChooseThreadFreeWay(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Makes the thread's next allocation look.
void ForceLook(ThreadCounters* counters);

// The threshold of a thread that counts.
void SetThreshold(ThreadCounters* counters, int64_t threshold_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Live bytes of all threads, `counters` at `level_bytes` (null: every thread
// as it is).
int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// `sum_bytes` were live at once.
void RaisePeak(int64_t sum_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// The same for the calling thread, if it is the only one and holds no lock.
// False otherwise.
bool RaisePeakOfOnlyThread(ThreadCounters* counters);

// Gives every thread an equal share of what is left below the peak, after
// SumLiveBytes found `sum_bytes`.
void ShareHeadroom(int64_t sum_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

// Called after the calling thread's live bytes passed its threshold: raises the
// peak if all threads together have passed it.
void RaiseThreshold(ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

// Tested by heap_counters_test and thread_creation_test, too.

#endif  // FOOTPRINT_PROFILING_HEAP_PROCESS_COUNTERS_H_

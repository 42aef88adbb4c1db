// The counting behind heap_accounting.h: what the entry points in
// allocation_entry_points.cc call around each allocation, and the regions.
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing and uses no library that might.
//
// Invariant with several threads: the sum of all limits, and of what threads
// that ended left live, is at most the peak known so far. No thread above its
// limit means no new peak; a thread that passes its limit takes the lock and
// sums. Each limit has a floor 4 KiB below it: a thread that frees its way
// below the floor takes the lock to move both, so a racing sum is wrong by at
// most 4 KiB a thread.
//
// Which threads can be alive at once is known from their creations and joins
// (thread_entry_points.cc, thread_tree.h).

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_LEDGER_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_LEDGER_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "footprint/profiling/heap/heap_metrics.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {

// How far a free-running thread may stray from what it has published.
inline constexpr int64_t kWindowBytes = 4096;
// What an account reads until it is opened.
extern const uint64_t kNoBytes;

// What the ledger keeps of a thread, from its creation until it is joined; in
// the ledger's own memory, since the thread's storage goes before that.
struct ThreadRecord;

// One thread's account, in the thread's own storage. The thread writes it,
// except for what the holder of the ledger's lock may write: everything after
// `state`.
struct ThreadAccount {
  enum class State : int { kNew, kOpen, kClosed };

  // jemalloc's own counters of the thread.
  const uint64_t* allocated_bytes = &kNoBytes;
  const uint64_t* deallocated_bytes = &kNoBytes;
  std::atomic<int64_t> allocation_count{0};
  // Bytes that a realloc in place kept: jemalloc counts them again.
  std::atomic<int64_t> kept_in_place_bytes{0};
  State state = State::kNew;
  // Since the last region event, creation or join by this thread: the
  // high-water mark of its live bytes.
  std::atomic<int64_t> peak_bytes{INT64_MIN};
  // What remains is also written by others, under the lock.
  //
  // Live bytes cannot have passed peak or limit while `*allocated_bytes` is
  // below this: it is the allocation's only test. Zero, so that every
  // allocation is looked at, unless the thread is the only one.
  std::atomic<uint64_t> check_at_bytes{0};
  // An allocation that lifts the live bytes above the limit, and a free that
  // sinks them below the floor, call the ledger; so does every call of an
  // account that is not open.
  std::atomic<int64_t> limit_bytes{INT64_MIN};
  std::atomic<int64_t> floor_bytes{INT64_MAX};
  // False while the thread is the only one, whose frees concern nobody.
  std::atomic<bool> has_floor{true};
  // The limit as the ledger counts it. The thread's own limit and floor follow
  // it, unless `is_settling`: then they make the thread's next call come to the
  // ledger.
  int64_t counted_limit_bytes = 0;
  bool is_settling = false;
  // Read under the lock for one sum over all threads.
  int64_t summed_live_bytes = 0;
  // Another thread's since, if the numbers differ.
  ThreadRecord* record = nullptr;
  uint64_t record_number = 0;
  ThreadAccount* next = nullptr;
  // Calls that mapped or unmapped; written under the lock.
  uint64_t mapping_count = 0;

  int64_t live_bytes() const {
    return static_cast<int64_t>(
        __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) -
        __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED));
  }
  uint64_t activity() const {
    return __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) +
           __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED) + mapping_count;
  }
};

// __thread, not thread_local: no wrapper function around each use.
extern __thread ThreadAccount thread_account
    __attribute__((tls_model("initial-exec")));

// The slow halves of the functions below. Returns `block`, so that an entry
// point can end in this call.
void* CheckAllocation(void* block);
void FreedBelowFloor();
void OpenThreadAccount();

inline void CountCall(ThreadAccount* account) {
  account->allocation_count.store(
      account->allocation_count.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// To be called after every call that handed `block` out; returns it.
inline void* AfterAllocation(void* block) {
  ThreadAccount* account = &thread_account;
  CountCall(account);
  if (__builtin_expect(
          __atomic_load_n(account->allocated_bytes, __ATOMIC_RELAXED) >=
              account->check_at_bytes.load(std::memory_order_relaxed),
          0)) {
    return CheckAllocation(block);
  }
  return block;
}

// While it is false, a call that takes memory back need not be followed by
// AfterDeallocation. A call that looked before the answer became true is
// allowed for: see `is_settling`.
inline bool FreesAreCounted() {
  return __builtin_expect(
      thread_account.has_floor.load(std::memory_order_relaxed), 0);
}

// To be called after every call that took memory back, if FreesAreCounted() was
// true before or might be now.
inline void AfterDeallocation() {
  ThreadAccount* account = &thread_account;
  if (account->has_floor.load(std::memory_order_relaxed) &&
      account->live_bytes() <
          account->floor_bytes.load(std::memory_order_relaxed)) {
    FreedBelowFloor();
  }
}

// Around a call that may move a block:
//   Reallocation call;
//   void* moved = ...realloc(block, size);
//   call.After(/*in_place=*/moved == block, /*succeeded=*/moved != nullptr);
class Reallocation {
 public:
  Reallocation();
  void After(bool in_place, bool succeeded);

 private:
  uint64_t allocated_bytes_before_;
  uint64_t deallocated_bytes_before_;
};

// Around pthread_create, of a thread that can be joined:
//   ThreadRecord* record = BeginThread(function, argument);
//   error = real_pthread_create(&thread, attributes, RunThread, record);
//   EndCreation(record, error, &thread);
// Null: the thread is to be created without.
ThreadRecord* BeginThread(void* (*function)(void*), void* argument);
void* RunThread(void* record);
void EndCreation(ThreadRecord* record, int error, const pthread_t* thread);

// Around a call that may join `thread`; and before one that detaches it.
ThreadRecord* BeginJoin(pthread_t thread);
void EndJoin(ThreadRecord* record, bool succeeded);
void ForgetThread(pthread_t thread);

// Bytes that the program mapped (positive) or unmapped (negative) by itself. A
// call of the thread, whose account should be open.
void CountMappedBytes(int64_t change_bytes);

// True once an entry point has counted an allocation.
bool LedgerIsInUse();

// The region that began with the process's first allocation.
inline constexpr int kProcessRegion = 0;

// The number of the region, or -1 if kMaxOpenRegions are open.
int OpenRegion();
// The region up to now.
HeapRegionBytes ReadRegion(int region);
HeapRegionBytes CloseRegion(int region);

// Live bytes of the process now.
int64_t LedgerLiveBytes();
// Child processes that fork made so far.
int ForkedProcessCount();

// What counts requested bytes, if anything does; see requested_bytes.h.
struct RequestedBytesCounter {
  int64_t (*live_bytes)();
  // The peak since the last call; the next peak begins at the live bytes.
  int64_t (*take_peak_bytes)();
};
void SetRequestedBytesCounter(const RequestedBytesCounter* counter);
bool RequestedBytesHaveCounter();

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_LEDGER_H_

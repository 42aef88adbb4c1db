#include "footprint/profiling/heap/requested_bytes.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/system_mmap.h"

namespace footprint::profiling_internal {
namespace {

constexpr int kShardCount = 64;
constexpr size_t kFirstSlotCount = 1024;

struct Slot {
  uintptr_t block;  // 0 if the slot is free.
  size_t size_bytes;
};

// An open-addressing table with linear probing; erasing shifts followers back.
struct alignas(64) Shard {
  PthreadMutex lock;
  Slot* slots ABSL_GUARDED_BY(lock) = nullptr;
  size_t slot_count ABSL_GUARDED_BY(lock) = 0;  // a power of two
  size_t used_count ABSL_GUARDED_BY(lock) = 0;
};

Shard shards[kShardCount];
std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

uint64_t Hash(uintptr_t block) {
  return (block >> 4) * uint64_t{0x9E3779B97F4A7C15};
}

Shard* FindShard(uintptr_t block) { return &shards[Hash(block) >> 58]; }

size_t HomeSlot(const Shard& shard, uintptr_t block)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.lock) {
  return (Hash(block) >> 20) & (shard.slot_count - 1);
}

void Place(Shard* shard, Slot entry)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->lock) {
  size_t slot = HomeSlot(*shard, entry.block);
  while (shard->slots[slot].block != 0) {
    slot = (slot + 1) & (shard->slot_count - 1);
  }
  shard->slots[slot] = entry;
}

void Grow(Shard* shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->lock) {
  Slot* const old_slots = shard->slots;
  const size_t old_slot_count = shard->slot_count;
  shard->slot_count =
      old_slot_count == 0 ? kFirstSlotCount : 2 * old_slot_count;
  void* pages =
      SystemMmap(nullptr, shard->slot_count * sizeof(Slot),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::abort();
  shard->slots = static_cast<Slot*>(pages);
  for (size_t slot = 0; slot < old_slot_count; ++slot) {
    if (old_slots[slot].block != 0) Place(shard, old_slots[slot]);
  }
  if (old_slots != nullptr) {
    syscall(SYS_munmap, old_slots, old_slot_count * sizeof(Slot));
  }
}

void Insert(uintptr_t block, size_t size_bytes) {
  Shard* shard = FindShard(block);
  PthreadMutexLock guard(&shard->lock);
  if (2 * (shard->used_count + 1) > shard->slot_count) Grow(shard);
  Place(shard, {block, size_bytes});
  ++shard->used_count;
}

// Closes the gap at `gap`, so that no probe sequence is cut.
void ShiftBack(Shard* shard, size_t gap)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->lock) {
  const size_t mask = shard->slot_count - 1;
  for (size_t slot = (gap + 1) & mask; shard->slots[slot].block != 0;
       slot = (slot + 1) & mask) {
    const size_t home = HomeSlot(*shard, shard->slots[slot].block);
    if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
    shard->slots[gap] = shard->slots[slot];
    gap = slot;
  }
  shard->slots[gap] = {0, 0};
}

size_t Erase(uintptr_t block) {
  Shard* shard = FindShard(block);
  PthreadMutexLock guard(&shard->lock);
  if (shard->slot_count == 0) return 0;
  size_t slot = HomeSlot(*shard, block);
  while (shard->slots[slot].block != 0 && shard->slots[slot].block != block) {
    slot = (slot + 1) & (shard->slot_count - 1);
  }
  if (shard->slots[slot].block != block) return 0;
  const size_t size_bytes = shard->slots[slot].size_bytes;
  ShiftBack(shard, slot);
  --shard->used_count;
  return size_bytes;
}

void RaisePeak(int64_t level_bytes) {
  int64_t peak = peak_bytes.load();
  while (level_bytes > peak &&
         !peak_bytes.compare_exchange_weak(peak, level_bytes)) {
  }
}

void AddLiveBytes(int64_t change_bytes) {
  RaisePeak(live_bytes.fetch_add(change_bytes) + change_bytes);
}

// Locks all shards, so that the child of a fork never finds a lock that another
// thread held. Unchecked: the analysis cannot name the locks of a loop.
void LockAllShards() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (Shard& shard : shards) shard.lock.Lock();
}
void UnlockAllShards() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (Shard& shard : shards) shard.lock.Unlock();
}

constexpr RequestedBytesCounter kCounter = {LiveRequestedBytes,
                                            TakeRequestedPeakBytes};

__attribute__((constructor)) void Register() {
  SetRequestedBytesCounter(&kCounter);
  pthread_atfork(LockAllShards, UnlockAllShards, UnlockAllShards);
}

}  // namespace

void AddRequestedBlock(const void* block, size_t size_bytes) {
  Insert(reinterpret_cast<uintptr_t>(block), size_bytes);
  AddLiveBytes(static_cast<int64_t>(size_bytes));
}

size_t RemoveRequestedBlock(const void* block) {
  const size_t size_bytes = DetachRequestedBlock(block);
  DropRequestedBytes(size_bytes);
  return size_bytes;
}

size_t DetachRequestedBlock(const void* block) {
  return Erase(reinterpret_cast<uintptr_t>(block));
}

void DropRequestedBytes(size_t size_bytes) {
  live_bytes.fetch_sub(static_cast<int64_t>(size_bytes));
}

void ReplaceRequestedBlock(size_t old_bytes, const void* block,
                           size_t size_bytes, bool in_place) {
  Insert(reinterpret_cast<uintptr_t>(block), size_bytes);
  if (in_place) {
    AddLiveBytes(static_cast<int64_t>(size_bytes) -
                 static_cast<int64_t>(old_bytes));
  } else {
    AddLiveBytes(static_cast<int64_t>(size_bytes));
    DropRequestedBytes(old_bytes);
  }
}

int64_t LiveRequestedBytes() { return live_bytes.load(); }

int64_t TakeRequestedPeakBytes() {
  return peak_bytes.exchange(live_bytes.load());
}

}  // namespace footprint::profiling_internal

#include "footprint/memo/load_meter.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define FOOTPRINT_MEMO_KNOWS_SINGLE_THREAD 1
#else
#define FOOTPRINT_MEMO_KNOWS_SINGLE_THREAD 0
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "footprint/base/memory/allocator.h"
#include "footprint/base/memory/jemalloc_controls.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/threads/mutex.h"

namespace footprint::memo_internal {
namespace {

int64_t LiveBytes(const ThreadHeapCounters& counters) {
  if (counters.allocated_bytes == nullptr) return 0;
  return static_cast<int64_t>(
      __atomic_load_n(counters.allocated_bytes, __ATOMIC_RELAXED) -
      __atomic_load_n(counters.deallocated_bytes, __ATOMIC_RELAXED));
}

// Threads that are being metered, and the bytes that they took in that time.
struct MeteredThreads {
  struct Thread {
    pthread_t id;
    ThreadHeapCounters counters;
    int64_t begin_bytes;
  };

  MeteredThreads();

  Mutex mutex;
  std::vector<Thread> running ABSL_GUARDED_BY(mutex);
  int64_t finished_bytes ABSL_GUARDED_BY(mutex) = 0;
  // The number of stretches that have begun so far.
  uint64_t stretch_count ABSL_GUARDED_BY(mutex) = 0;
};

// The list is never destroyed, since threads may outlive static objects.
MeteredThreads& Metered() {
  static MeteredThreads* const metered = new MeteredThreads;
  return *metered;
}

// fork runs these, so that no child gets a half-changed list.
void LockMetered() ABSL_EXCLUSIVE_LOCK_FUNCTION(Metered().mutex) {
  Metered().mutex.Lock();
}
void UnlockMetered() ABSL_UNLOCK_FUNCTION(Metered().mutex) {
  Metered().mutex.Unlock();
}
// The child has one thread; the counters of the others are gone.
void UnlockMeteredInChild() ABSL_UNLOCK_FUNCTION(Metered().mutex) {
  std::vector<MeteredThreads::Thread>& running = Metered().running;
  running.erase(std::remove_if(running.begin(), running.end(),
                               [](const MeteredThreads::Thread& thread) {
                                 return pthread_equal(thread.id,
                                                      pthread_self()) == 0;
                               }),
                running.end());
  UnlockMetered();
}

MeteredThreads::MeteredThreads() {
  // The list allocates here, so that its memory is not part of a first figure.
  running.reserve(64);
  pthread_atfork(LockMetered, UnlockMetered, UnlockMeteredInChild);
}

// The number of open stretches on this thread, and the innermost meter.
thread_local int stretch_depth = 0;
thread_local LoadMeter* innermost_meter = nullptr;
// Live bytes at the moment when jemalloc's peak of this thread was reset.
thread_local int64_t peak_begin_bytes = 0;

std::atomic<ResidentCount> resident_count{ResidentCount::kNone};

int64_t ReadAllMeteredBytes() {
  MeteredThreads& metered = Metered();
  MutexLock lock(&metered.mutex);
  int64_t bytes = metered.finished_bytes;
  for (const MeteredThreads::Thread& thread : metered.running) {
    bytes += LiveBytes(thread.counters) - thread.begin_bytes;
  }
  return bytes;
}

// Passes the characters of a file of /proc to `take`, without heap memory.
template <typename Take>
void ReadWithoutHeap(const char* path, Take take) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(file, buffer, sizeof(buffer))) > 0) {
    for (ssize_t i = 0; i < size; ++i) take(buffer[i]);
  }
  close(file);
}

// Adds up mappings from lines like "7f00-7f01 rw-p 00000000 00:00 0
// [stack]". Inaccessible mappings take no memory, and the main thread's stack,
// which grows by itself, is left out.
class MappedAddresses {
 public:
  void Take(char character) {
    if (character != '\n') {
      if (size_ < sizeof(line_) - 1) line_[size_++] = character;
      return;
    }
    line_[size_] = '\0';
    TakeLine();
    size_ = 0;
  }
  int64_t accessible_bytes() const { return accessible_bytes_; }
  int64_t inaccessible_count() const { return inaccessible_count_; }

 private:
  void TakeLine() {
    char* rest = nullptr;
    const uint64_t begin = std::strtoull(line_, &rest, 16);
    if (*rest != '-') return;
    const uint64_t end = std::strtoull(rest + 1, &rest, 16);
    if (std::strncmp(rest, " ---", 4) == 0) {
      ++inaccessible_count_;
    } else if (std::strstr(rest, "[stack]") == nullptr) {
      accessible_bytes_ += static_cast<int64_t>(end - begin);
    }
  }

  char line_[128];
  size_t size_ = 0;
  int64_t accessible_bytes_ = 0;
  int64_t inaccessible_count_ = 0;
};

// Returns the default stack size of a thread.
int64_t ThreadStackBytes() {
  static const int64_t stack_bytes = [] {
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_getattr_default_np(&attributes) != 0) return int64_t{0};
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
    return static_cast<int64_t>(stack);
  }();
  return stack_bytes;
}

// Returns the most bytes that the process can touch at one time.
int64_t MachineBytes() {
  struct sysinfo machine = {};
  if (sysinfo(&machine) != 0) return INT64_MAX;
  return static_cast<int64_t>(machine.totalram + machine.totalswap) *
         static_cast<int64_t>(machine.mem_unit);
}

// Returns whether the process has other threads; true if that is unknown. A
// folder has two links plus one for each folder within it, here one per thread.
bool HasOtherThreads() {
  struct stat threads;
  return stat("/proc/self/task", &threads) != 0 || threads.st_nlink != 3;
}

// Returns whether the process may have had other threads. The C library keeps
// the stack of a joined thread for the next one.
bool MayHaveHadOtherThreads() {
#if FOOTPRINT_MEMO_KNOWS_SINGLE_THREAD
  return __libc_single_threaded == 0;
#else
  return true;
#endif
}

const char* FindDoubt(const MemoryReading& growth, bool was_alone) {
  if (growth.heap_bytes != growth.metered_bytes) {
    return "other threads allocated or freed meanwhile";
  }
  if (growth.thread_bytes < 0 || growth.mapped_bytes < 0) {
    return "more was freed than was allocated";
  }
  if (growth.mapped_bytes == 0) return nullptr;
  if (!was_alone) {
    return "something was mapped while other values were loaded or evicted";
  }
  if (growth.has_other_threads) {
    return "something was mapped or unmapped while the process had other "
           "threads, whose mappings, or stacks, it may be";
  }
  if ((growth.inaccessible_count != 0 || !StacksAreTold()) &&
      MayHaveHadOtherThreads()) {
    return "what was mapped may be the stack of a thread that has ended";
  }
  return nullptr;
}

}  // namespace

bool StacksAreTold() {
  int major = 0;
  int minor = 0;
  return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
         major == 2 && minor < 42;
}

MemoryReading& MemoryReading::operator+=(const MemoryReading& other) {
  thread_bytes += other.thread_bytes;
  thread_allocated_bytes += other.thread_allocated_bytes;
  heap_bytes += other.heap_bytes;
  metered_bytes += other.metered_bytes;
  mapped_bytes += other.mapped_bytes;
  resident_bytes += other.resident_bytes;
  inaccessible_count += other.inaccessible_count;
  has_other_threads |= other.has_other_threads;
  return *this;
}

MemoryReading operator-(MemoryReading left, const MemoryReading& right) {
  left.thread_bytes -= right.thread_bytes;
  left.thread_allocated_bytes -= right.thread_allocated_bytes;
  left.heap_bytes -= right.heap_bytes;
  left.metered_bytes -= right.metered_bytes;
  left.mapped_bytes -= right.mapped_bytes;
  left.resident_bytes -= right.resident_bytes;
  left.inaccessible_count -= right.inaccessible_count;
  left.has_other_threads |= right.has_other_threads;
  return left;
}

MemoryReading ReadMemory() {
  MemoryReading reading;
  if (!IsJemalloc()) return reading;
  FlushThreadCache();
  if (ResidentBytesAreCounted()) PurgeFreeMemory();
  reading.resident_bytes = ReadResidentBytes().now_bytes;
  MappedAddresses addresses;
  ReadWithoutHeap("/proc/self/maps",
                  [&](char character) { addresses.Take(character); });
  reading.inaccessible_count = addresses.inaccessible_count();
  reading.has_other_threads = HasOtherThreads();
  const AllocatorBytes allocator = ReadAllocatorBytes();
  reading.mapped_bytes = addresses.accessible_bytes() - allocator.mapped_bytes -
                         ReadRetainedBytes();
  reading.heap_bytes = allocator.allocated_bytes;
  reading.metered_bytes = ReadAllMeteredBytes();
  const ThreadHeapBytes thread = ReadThreadHeapBytes();
  reading.thread_bytes = thread.live_bytes();
  reading.thread_allocated_bytes = static_cast<int64_t>(thread.allocated_bytes);
  return reading;
}

MeteredStretch::MeteredStretch() {
  if (stretch_depth++ > 0) return;
  const ThreadHeapCounters counters = FindThreadHeapCounters();
  MeteredThreads& metered = Metered();
  MutexLock lock(&metered.mutex);
  metered.running.push_back({pthread_self(), counters, 0});
  ++metered.stretch_count;
  // The bytes are read last, since the list may just have grown.
  metered.running.back().begin_bytes = LiveBytes(counters);
}

MeteredStretch::~MeteredStretch() {
  if (--stretch_depth > 0) return;
  MeteredThreads& metered = Metered();
  MutexLock lock(&metered.mutex);
  const auto mine =
      std::find_if(metered.running.begin(), metered.running.end(),
                   [](const MeteredThreads::Thread& thread) {
                     return pthread_equal(thread.id, pthread_self()) != 0;
                   });
  metered.finished_bytes += LiveBytes(mine->counters) - mine->begin_bytes;
  metered.running.erase(mine);
}

LoadMeter::LoadMeter() : outer_(innermost_meter) {
  if (outer_ != nullptr) outer_->NotePeak();
  innermost_meter = this;
  {
    MeteredThreads& metered = Metered();
    MutexLock lock(&metered.mutex);
    began_alone_ = metered.running.size() == 1;
    stretch_count_ = metered.stretch_count;
  }
  begin_ = ReadMemory();
  peak_thread_bytes_ = peak_begin_bytes = begin_.thread_bytes;
  ResetThreadHeapPeak();
}

LoadMeter::~LoadMeter() {
  if (innermost_meter == this) innermost_meter = outer_;
}

void LoadMeter::NotePeak() {
  peak_thread_bytes_ = std::max(peak_thread_bytes_,
                                peak_begin_bytes + ReadThreadHeapPeakBytes());
}

LoadedBytes LoadMeter::Stop(const MemoryReading& excluded) {
  // Ends this meter's peak, which also counts for the meter around it.
  NotePeak();
  innermost_meter = outer_;
  if (outer_ != nullptr) {
    outer_->peak_thread_bytes_ =
        std::max(outer_->peak_thread_bytes_, peak_thread_bytes_);
  }
  const MemoryReading end = ReadMemory();
  const MemoryReading growth = end - begin_ - excluded;
  peak_begin_bytes = end.thread_bytes;
  ResetThreadHeapPeak();
  bool was_alone = began_alone_;
  {
    MeteredThreads& metered = Metered();
    MutexLock lock(&metered.mutex);
    was_alone &= metered.stretch_count == stretch_count_;
  }
  // Judges the figures.
  LoadedBytes loaded;
  loaded.is_measured = IsJemalloc();
  if (!loaded.is_measured) return loaded;
  loaded.doubt = FindDoubt(growth, was_alone);
  loaded.cross_check = growth.heap_bytes == growth.metered_bytes
                           ? CrossCheck::kAgrees
                           : CrossCheck::kDiffers;
  loaded.mapped_bytes = growth.mapped_bytes;
  // The figure is in doubt anyway, so every new guard page counts as a stack.
  if (growth.has_other_threads || loaded.cross_check == CrossCheck::kDiffers) {
    loaded.mapped_bytes -= growth.inaccessible_count * ThreadStackBytes();
  }
  loaded.mapped_bytes = std::max<int64_t>(0, loaded.mapped_bytes);
  const int64_t touched_bytes = std::max<int64_t>(0, growth.resident_bytes);
  // Someone reserved addresses, for example for a sparse table or an arena.
  // They can never all be touched.
  if (loaded.mapped_bytes > MachineBytes()) {
    loaded.mapped_bytes = std::min(loaded.mapped_bytes, touched_bytes);
    loaded.doubt =
        "more addresses were mapped than this machine has memory, so that only "
        "touched pages are counted";
  }
  // Counts bytes that no metered thread took, too, so that a figure in doubt is
  // not too low.
  const int64_t unexplained_bytes =
      std::max<int64_t>(0, growth.heap_bytes - growth.metered_bytes);
  loaded.bytes = std::max<int64_t>(0, growth.thread_bytes + unexplained_bytes) +
                 loaded.mapped_bytes;
  loaded.taken_bytes = growth.thread_allocated_bytes + loaded.mapped_bytes;
  loaded.peak_bytes =
      std::max(loaded.bytes,
               peak_thread_bytes_ - begin_.thread_bytes + loaded.mapped_bytes);
  if (ResidentBytesAreCounted()) loaded.resident_bytes = touched_bytes;
  if (resident_count.load() == ResidentCount::kTouchedOrOnHeap) {
    loaded.resident_bytes =
        std::max(loaded.resident_bytes, loaded.bytes - loaded.mapped_bytes);
  }
  return loaded;
}

void CountResidentBytes(ResidentCount count) { resident_count.store(count); }
bool ResidentBytesAreCounted() {
  return resident_count.load() != ResidentCount::kNone;
}

}  // namespace footprint::memo_internal

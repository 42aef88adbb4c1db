#include "footprint/profiling/heap/heap_counters.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "footprint/base/memory/allocator.h"

namespace footprint::profiling_internal {

const uint64_t kNoBytes = 0;
__thread ThreadCounters thread_counters;

struct ThreadRecord {
  ThreadNode node;
  // Null before the thread's first call and after its last.
  ThreadCounters* counters = nullptr;
  bool has_ended = false;
  bool has_number = false;  // `thread` is set
  pthread_t thread = {};
  // What the thread is to run, until it begins; a record that is given up
  // before that goes when it begins.
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  bool is_given_up = false;
  // Of the creator at the begin of the join, which does not end before the
  // thread does.
  uint64_t joiner_activity = 0;
  // Tells one use of this memory from the next.
  uint64_t number = 0;
  ThreadRecord* next = nullptr;
  ThreadRecord* previous = nullptr;
};

namespace {

using State = ThreadCounters::State;

struct Totals {
  int64_t live_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;

  void Add(const ThreadCounters& counters) {
    live_bytes += counters.live_bytes();
    allocated_bytes += static_cast<int64_t>(__atomic_load_n(
                           counters.allocated_bytes, __ATOMIC_RELAXED)) -
                       counters.kept_in_place_bytes.load();
    allocation_count += counters.allocation_count.load();
  }
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

struct Phase {
  bool open = false;
  Quantities begin;
  Quantities peak;
  // Of threads that ended in the phase and that nobody joins.
  int64_t ended_thread_peak_net_bytes = 0;
  int ended_root_count = 0;
  bool ended_roots_overlap = false;
  int ended_active_thread_count = 0;
};

struct ProcessCounters {
  // Adaptive: it is held for some nanoseconds, too short to sleep for.
  pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  // Whether the kernel offers what SynchroniseThreads needs.
  bool can_synchronise = false;
  bool in_use = false;
  pthread_key_t thread_end_key = 0;
  ThreadCounters* first_thread = nullptr;
  int thread_count = 0;
  ThreadRecord* first_record = nullptr;
  ThreadRecord* free_records = nullptr;
  uint64_t record_count = 0;
  PhaseSet open_phases = 0;
  // Since the last phase event.
  int64_t peak_absolute_bytes = 0;
  // Of all threads; kept only while there are several.
  int64_t sum_of_upper_thresholds = 0;
  // What threads that ended left behind.
  Totals ended;
  int64_t mapped_bytes = 0;
  int64_t mapped_peak_absolute_bytes = 0;
  Phase phases[kMaxOpenPhases];
  const RequestedBytesCounter* requested = nullptr;
  std::atomic<int> forked_process_count{0};
};

ProcessCounters process;

class ProcessLock {
 public:
  ProcessLock() { pthread_mutex_lock(&process.lock); }
  ~ProcessLock() { pthread_mutex_unlock(&process.lock); }
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;
};

// The functions below need the lock.

// Only a thread that can be made to see when it is no longer alone is spared
// the looks that several threads need.
bool OneThreadIsAlone() {
  return process.thread_count == 1 && process.can_synchronise;
}

void SetThresholds(ThreadCounters* counters, int64_t upper_bytes) {
  // No store that changes nothing: it would take the cache line from the
  // thread.
  if (upper_bytes == counters->counted_upper_threshold_bytes &&
      upper_bytes == counters->upper_threshold_bytes.load()) {
    return;
  }
  process.sum_of_upper_thresholds +=
      upper_bytes - counters->counted_upper_threshold_bytes;
  counters->counted_upper_threshold_bytes = upper_bytes;
  if (counters->thresholds_are_pending) return;
  counters->upper_threshold_bytes.store(upper_bytes);
  counters->lower_threshold_bytes.store(upper_bytes - kHysteresisBytes);
  counters->has_lower_threshold.store(true);
  counters->check_at_bytes.store(0);
}

// Makes the thread's next call take the lock.
void ForceSlowPath(ThreadCounters* counters) {
  counters->check_at_bytes.store(0);
  counters->upper_threshold_bytes.store(INT64_MIN);
  counters->lower_threshold_bytes.store(INT64_MAX);
  counters->has_lower_threshold.store(true);
}

// A thread that runs meanwhile either did what it was doing, stores included,
// before this call, or will see what was stored before it.
void SynchroniseThreads() {
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

// The only thread may grow to the peak, and its frees concern nobody.
void SetThresholdOfOnlyThread() {
  ThreadCounters* counters = process.first_thread;
  counters->thresholds_are_pending = false;
  counters->upper_threshold_bytes.store(process.peak_absolute_bytes -
                                        process.ended.live_bytes);
  counters->has_lower_threshold.store(false);
  counters->check_at_bytes.store(0);
  if (counters == &thread_counters) return;
  // The thread may be about to store what it computed from the old threshold.
  SynchroniseThreads();
  counters->check_at_bytes.store(0);
}

// Live bytes of all threads, `counters` at `level_bytes` (null: every thread as
// it is) and the others as far as their thresholds allow.
int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes) {
  int64_t sum = process.ended.live_bytes;
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (each == counters) {
      each->summed_live_bytes = level_bytes;
    } else if (each == &thread_counters || each->thresholds_are_pending ||
               OneThreadIsAlone()) {
      each->summed_live_bytes = each->live_bytes();
    } else {
      const int64_t upper_bytes = each->counted_upper_threshold_bytes;
      each->summed_live_bytes =
          std::max(upper_bytes - kHysteresisBytes,
                   std::min(each->live_bytes(), upper_bytes));
    }
    sum += each->summed_live_bytes;
  }
  return sum;
}

// Gives every thread an equal share of what is left below the peak, after
// SumLiveBytes found `sum_bytes`.
void ShareHeadroom(int64_t sum_bytes) {
  if (OneThreadIsAlone()) {
    SetThresholdOfOnlyThread();
    return;
  }
  const int64_t headroom_bytes =
      process.thread_count == 0
          ? 0
          : (process.peak_absolute_bytes - sum_bytes) / process.thread_count;
  const int64_t share_bytes = std::min(headroom_bytes, kHysteresisBytes / 2);
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    SetThresholds(each, each->summed_live_bytes + share_bytes);
  }
}

// Puts the thresholds of the calling thread around its live bytes, without
// giving it more than others leave.
void CentreThresholds(ThreadCounters* counters) {
  const int64_t left_bytes = process.peak_absolute_bytes -
                             process.ended.live_bytes -
                             (process.sum_of_upper_thresholds -
                              counters->counted_upper_threshold_bytes);
  SetThresholds(
      counters,
      std::min(counters->live_bytes() + kHysteresisBytes / 2, left_bytes));
}

void RaiseThresholds(ThreadCounters* counters, int64_t level_bytes) {
  if (!OneThreadIsAlone()) {
    const int64_t others_bytes = process.sum_of_upper_thresholds -
                                 counters->counted_upper_threshold_bytes;
    if (level_bytes + others_bytes + process.ended.live_bytes <=
        process.peak_absolute_bytes) {
      CentreThresholds(counters);
      return;
    }
  }
  const int64_t sum_bytes = SumLiveBytes(counters, level_bytes);
  process.peak_absolute_bytes =
      std::max(process.peak_absolute_bytes, sum_bytes);
  ShareHeadroom(sum_bytes);
  // A block that was live for the moment only is gone by now.
  if (!OneThreadIsAlone() && level_bytes > counters->live_bytes()) {
    CentreThresholds(counters);
  }
}

// The first thread had no lower threshold while it was alone, and looked before
// each free whether it had. One free may have looked before it got one and end
// at any time: until the thread's next call, its live bytes are taken as they
// are read.
void BeginLowerThresholds() {
  ThreadCounters* counters = process.first_thread;
  counters->thresholds_are_pending = true;
  ForceSlowPath(counters);
  SynchroniseThreads();
  counters->check_at_bytes.store(0);
  counters->counted_upper_threshold_bytes =
      std::min(counters->live_bytes(),
               process.peak_absolute_bytes - process.ended.live_bytes);
  process.sum_of_upper_thresholds = counters->counted_upper_threshold_bytes;
}

ThreadRecord* RecordOf(ThreadNode* node) {
  return reinterpret_cast<ThreadRecord*>(node);
}

// Not from the heap, whose every call comes here.
void MapRecords() {
  constexpr size_t kCount = 32;
  void* const mapped = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, kCount * sizeof(ThreadRecord),
              PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mapped == MAP_FAILED) {
    static constexpr char kMessage[] =
        "footprint: no memory for the record of a thread\n";
    if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) std::abort();
    std::abort();
  }
  auto* const records = static_cast<ThreadRecord*>(mapped);
  for (size_t i = 0; i < kCount; ++i) {
    records[i].next = process.free_records;
    process.free_records = &records[i];
  }
}

ThreadRecord* NewRecord() {
  if (process.free_records == nullptr) MapRecords();
  ThreadRecord* const record = process.free_records;
  process.free_records = record->next;
  new (record) ThreadRecord();
  record->number = ++process.record_count;
  record->next = process.first_record;
  if (record->next != nullptr) record->next->previous = record;
  process.first_record = record;
  return record;
}

void FreeRecord(ThreadRecord* record) {
  record->number = 0;
  record->previous = nullptr;
  record->next = process.free_records;
  process.free_records = record;
}

// Of a thread without a creator, children and counters.
void DropRecord(ThreadRecord* record) {
  (record->previous != nullptr ? record->previous->next
                               : process.first_record) = record->next;
  if (record->next != nullptr) record->next->previous = record->previous;
  if (record->function != nullptr) {
    // RunThread is on its way to it.
    record->is_given_up = true;
  } else {
    FreeRecord(record);
  }
}

// What a root that ended adds to every phase that is still open.
void DropEndedRoot(ThreadRecord* record) {
  for (int i = 0; i < kMaxOpenPhases; ++i) {
    Phase& phase = process.phases[i];
    if (!phase.open) continue;
    phase.ended_thread_peak_net_bytes += HighestNetBytes(i, record->node);
    if (IsActive(i, record->node)) ++phase.ended_root_count;
    phase.ended_roots_overlap |= Overlaps(i, record->node);
  }
  DropRecord(record);
}

// Nobody who is known joins it.
void MakeRoot(ThreadRecord* record) {
  if (record->node.creator != nullptr) {
    DetachChild(process.open_phases, &record->node);
  }
  if (record->has_ended) {
    DropEndedRoot(record);
  } else if (record->counters == nullptr) {
    DropRecord(record);
  }
}

// The calling thread's or an counters's own record, if it still is.
ThreadRecord* OwnRecord(const ThreadCounters& counters) {
  return counters.record != nullptr &&
                 counters.record->number == counters.record_number
             ? counters.record
             : nullptr;
}

void LookAt(const ThreadCounters& counters, int64_t live_bytes,
            ThreadRecord* record) {
  record->node.live_bytes = live_bytes;
  record->node.activity = counters.activity();
}

// Begins a segment of the calling thread's course.
void EndSegment(ThreadCounters* counters) {
  ThreadRecord* const record = counters->record;
  const int64_t live_bytes = counters->live_bytes();
  LookAt(*counters, live_bytes, record);
  RaiseHighest(process.open_phases,
               std::max(counters->peak_absolute_bytes.load(), live_bytes),
               &record->node);
  counters->peak_absolute_bytes.store(live_bytes);
  counters->check_at_bytes.store(0);
}

void AddThread(ThreadCounters* counters) {
  if (OneThreadIsAlone()) BeginLowerThresholds();
  counters->peak_absolute_bytes.store(0);
  if (OwnRecord(*counters) == nullptr) {
    counters->record = NewRecord();
    counters->record_number = counters->record->number;
  }
  counters->record->counters = counters;
  counters->next = process.first_thread;
  process.first_thread = counters;
  ++process.thread_count;
  counters->state = State::kRegistered;
  // This also counts what the thread did before its counters was open.
  RaiseThresholds(counters, counters->live_bytes());
}

bool WasActive(const ThreadCounters& counters, int phase) {
  return counters.activity() !=
         counters.record->node.in_phase[phase].begin_activity;
}

void RemoveThread(ThreadCounters* counters) {
  ThreadCounters** link = &process.first_thread;
  while (*link != counters) link = &(*link)->next;
  *link = counters->next;
  process.sum_of_upper_thresholds -= counters->counted_upper_threshold_bytes;
  for (int i = 0; i < kMaxOpenPhases; ++i) {
    if (!process.phases[i].open) continue;
    if (WasActive(*counters, i)) ++process.phases[i].ended_active_thread_count;
  }
  EndSegment(counters);
  ThreadRecord* const record = counters->record;
  record->counters = nullptr;
  record->has_ended = true;
  while (record->node.first_child != nullptr) {
    MakeRoot(RecordOf(record->node.first_child));
  }
  if (record->node.creator == nullptr) DropEndedRoot(record);
  process.ended.Add(*counters);
  counters->state = State::kEnded;
  // Every later call of this thread comes to CountAfterEnd.
  ForceSlowPath(counters);
  counters->summed_live_bytes = counters->live_bytes();
  --process.thread_count;
  if (OneThreadIsAlone()) SetThresholdOfOnlyThread();
}

// A call of a thread whose counters is closed: the last destructors. What
// changed since the last such call goes to the counters of those that ended.
void CountAfterEnd(ThreadCounters* counters, bool is_allocation) {
  const int64_t live_bytes = counters->live_bytes();
  const int64_t change_bytes = live_bytes - counters->summed_live_bytes;
  counters->summed_live_bytes = live_bytes;
  process.ended.live_bytes += change_bytes;
  if (is_allocation) {
    process.ended.allocated_bytes += change_bytes;
    ++process.ended.allocation_count;
  }
  ThreadRecord* const record = OwnRecord(*counters);
  if (record != nullptr) LookAt(*counters, live_bytes, record);
  for (int i = 0; i < kMaxOpenPhases && change_bytes > 0; ++i) {
    if (!process.phases[i].open) continue;
    (record != nullptr ? record->node.in_phase[i].highest_net_bytes
                       : process.phases[i].ended_thread_peak_net_bytes) +=
        change_bytes;
  }
  const int64_t sum_bytes = SumLiveBytes(nullptr, 0);
  process.peak_absolute_bytes =
      std::max(process.peak_absolute_bytes, sum_bytes);
  ShareHeadroom(sum_bytes);
}

Quantities CurrentQuantities(int64_t live_bytes) {
  Totals totals = process.ended;
  for (const ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    totals.Add(*each);
  }
  Quantities now;
  now[HeapQuantity::kLiveBytes] = live_bytes;
  now[HeapQuantity::kAllocatedBytes] = totals.allocated_bytes;
  now[HeapQuantity::kAllocationCount] = totals.allocation_count;
  now[HeapQuantity::kMappedBytes] = process.mapped_bytes;
  if (process.requested != nullptr) {
    now[HeapQuantity::kRequestedBytes] = process.requested->live_bytes();
  }
  return now;
}

// Since the last phase event, of what is not only ever added to.
Quantities TakePeaks() {
  Quantities peaks;
  peaks[HeapQuantity::kLiveBytes] = process.peak_absolute_bytes;
  peaks[HeapQuantity::kMappedBytes] = process.mapped_peak_absolute_bytes;
  if (process.requested != nullptr) {
    peaks[HeapQuantity::kRequestedBytes] =
        process.requested->take_peak_absolute_bytes();
  }
  process.mapped_peak_absolute_bytes = process.mapped_bytes;
  return peaks;
}

void FoldThreadPeaks() {
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    LookAt(*each, each->summed_live_bytes, each->record);
    RaiseHighest(process.open_phases, each->peak_absolute_bytes.load(),
                 &each->record->node);
    each->peak_absolute_bytes.store(each->summed_live_bytes);
  }
}

// Gives the peaks since the last phase event to every open phase and starts
// new ones from what is live now, which is returned.
int64_t FoldPeaks() {
  const int64_t live_bytes = SumLiveBytes(nullptr, 0);
  const Quantities peaks = TakePeaks();
  for (Phase& phase : process.phases) {
    if (phase.open) phase.peak.RaiseTo(peaks);
  }
  FoldThreadPeaks();
  process.peak_absolute_bytes = live_bytes;
  ShareHeadroom(live_bytes);
  return live_bytes;
}

void SetOpen(int slot, bool is_open) {
  process.phases[slot].open = is_open;
  const PhaseSet bit = PhaseSet{1} << slot;
  process.open_phases =
      is_open ? process.open_phases | bit : process.open_phases & ~bit;
}

void BeginPhaseSlot(int slot, int64_t live_bytes) {
  Phase& phase = process.phases[slot];
  phase = Phase();
  SetOpen(slot, true);
  phase.begin = CurrentQuantities(live_bytes);
  phase.peak = phase.begin;
  for (ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    BeginPhase(slot, &each->node);
  }
}

// The bound over all interleavings.
int64_t SumThreadPeaks(int slot) {
  int64_t sum_bytes = process.phases[slot].ended_thread_peak_net_bytes;
  for (const ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator == nullptr) {
      sum_bytes += HighestNetBytes(slot, each->node);
    }
  }
  return sum_bytes;
}

// Whether there are several interleavings.
bool ThreadsMayOverlap(int slot) {
  const Phase& phase = process.phases[slot];
  int active_root_count = phase.ended_root_count;
  bool overlap = phase.ended_roots_overlap;
  for (const ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator != nullptr) continue;
    overlap |= Overlaps(slot, each->node);
    if (IsActive(slot, each->node)) ++active_root_count;
  }
  return overlap || active_root_count > 1;
}

int64_t MetricValue(const HeapMetric& metric, int slot, const Quantities& end) {
  const Phase& phase = process.phases[slot];
  const HeapQuantity quantity = metric.quantity;
  switch (metric.statistic) {
    case HeapStatistic::kNetPeak:
      return phase.peak[quantity] - phase.begin[quantity];
    case HeapStatistic::kAbsolutePeak:
      return phase.peak[quantity];
    case HeapStatistic::kNetChange:
      return end[quantity] - phase.begin[quantity];
    case HeapStatistic::kNetThreadPeakSum:
      return SumThreadPeaks(slot);
  }
  return 0;
}

HeapPhaseBytes ReadPhaseSlot(int slot, int64_t live_bytes) {
  const Quantities end = CurrentQuantities(live_bytes);
  HeapPhaseBytes bytes;
  for (const HeapMetric& metric : kHeapMetrics) {
    bytes.*metric.member = MetricValue(metric, slot, end);
  }
  bytes.threads_may_overlap = ThreadsMayOverlap(slot);
  bytes.active_thread_count = process.phases[slot].ended_active_thread_count;
  for (const ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (WasActive(*each, slot)) ++bytes.active_thread_count;
  }
  return bytes;
}

// Of the youngest thread of that number: the number of one that ended may be
// used anew.
ThreadRecord* FindRecord(pthread_t thread) {
  for (ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator != nullptr && each->has_number &&
        pthread_equal(each->thread, thread)) {
      return each;
    }
  }
  return nullptr;
}

// The functions below take the lock themselves, if they need it.

// Computes how much the only thread may allocate before it must be looked at
// again.
void DelayNextCheck(ThreadCounters* counters) {
  while (!counters->has_lower_threshold.load()) {
    const int64_t upper_threshold_bytes =
        counters->upper_threshold_bytes.load();
    const int64_t headroom_bytes =
        std::min(upper_threshold_bytes, counters->peak_absolute_bytes.load()) -
        counters->live_bytes();
    counters->check_at_bytes.store(
        *counters->allocated_bytes + 1 +
            static_cast<uint64_t>(std::max<int64_t>(0, headroom_bytes)),
        std::memory_order_relaxed);
    // Against the compiler; against the processor, SynchroniseThreads.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (counters->upper_threshold_bytes.load() == upper_threshold_bytes &&
        !counters->has_lower_threshold.load()) {
      return;
    }
  }
  counters->check_at_bytes.store(0, std::memory_order_relaxed);
}

// `level_bytes` is the calling thread's live bytes, or more where two blocks
// were live for the moment.
void CheckLevel(ThreadCounters* counters, int64_t level_bytes) {
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  if (level_bytes >
      counters->peak_absolute_bytes.load(std::memory_order_relaxed)) {
    counters->peak_absolute_bytes.store(level_bytes, std::memory_order_relaxed);
  }
  if (level_bytes >
      counters->upper_threshold_bytes.load(std::memory_order_relaxed)) {
    ProcessLock lock;
    if (counters->state == State::kEnded) {
      CountAfterEnd(counters, /*is_allocation=*/true);
      return;
    }
    counters->thresholds_are_pending = false;
    // Again: a phase event may have begun a new peak since the look above.
    counters->peak_absolute_bytes.store(
        std::max(counters->peak_absolute_bytes.load(), level_bytes));
    RaiseThresholds(counters, level_bytes);
  }
  if (!counters->has_lower_threshold.load(std::memory_order_relaxed)) {
    DelayNextCheck(counters);
  }
}

// pthread's callbacks.

// Destructors that run after this one are counted by CountAfterEnd.
void AtThreadEnd(void* /*counters*/) {
  ProcessLock lock;
  RemoveThread(&thread_counters);
}

void BeforeFork() { pthread_mutex_lock(&process.lock); }
void AfterForkInParent() {
  ++process.forked_process_count;
  pthread_mutex_unlock(&process.lock);
}
// Only the thread that forked lives on. The others' counters must go: their
// storage is used anew by threads that the child starts.
void AfterForkInChild() {
  for (ThreadCounters* each = process.first_thread; each != nullptr;) {
    ThreadCounters* const next = each->next;
    if (each != &thread_counters) RemoveThread(each);
    each = next;
  }
  for (ThreadRecord* each = process.first_record; each != nullptr;) {
    ThreadRecord* const next = each->next;
    if (each != OwnRecord(thread_counters)) MakeRoot(each);
    each = next;
  }
  pthread_mutex_unlock(&process.lock);
}

// Not in the first allocation: registering may itself allocate. Before
// mapping_entry_points.cc, whose lock is taken before this one: what is
// registered last is called first before a fork.
__attribute__((constructor(101))) void WatchForks() {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace

void RegisterThread() {
  ThreadCounters* counters = &thread_counters;
  if (counters->state != State::kNew) return;
  const ThreadHeapCounters of_allocator = FindThreadHeapCounters();
  if (of_allocator.allocated_bytes == nullptr) return;
  counters->allocated_bytes = of_allocator.allocated_bytes;
  counters->deallocated_bytes = of_allocator.deallocated_bytes;
  ProcessLock lock;
  if (!process.in_use) {
    process.in_use = true;
    process.can_synchronise =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
    pthread_key_create(&process.thread_end_key, AtThreadEnd);
    SetOpen(kProcessPhase, true);
  }
  pthread_setspecific(process.thread_end_key, counters);
  AddThread(counters);
  counters->peak_absolute_bytes.store(
      std::max<int64_t>(counters->live_bytes(), 0));
}

void* CheckAllocation(void* block) {
  CheckLevel(&thread_counters, thread_counters.live_bytes());
  return block;
}

void FreedBelowLowerThreshold() {
  ThreadCounters* counters = &thread_counters;
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  ProcessLock lock;
  if (counters->state == State::kEnded) {
    CountAfterEnd(counters, /*is_allocation=*/false);
  } else if (!OneThreadIsAlone()) {
    counters->thresholds_are_pending = false;
    CentreThresholds(counters);
  }
}

Reallocation::Reallocation() {
  if (thread_counters.state == State::kNew) RegisterThread();
  allocated_bytes_before_ = *thread_counters.allocated_bytes;
  deallocated_bytes_before_ = *thread_counters.deallocated_bytes;
}

void Reallocation::After(bool in_place, bool succeeded) {
  ThreadCounters* counters = &thread_counters;
  const int64_t handed_out_bytes = static_cast<int64_t>(
      *counters->allocated_bytes - allocated_bytes_before_);
  const int64_t taken_back_bytes = static_cast<int64_t>(
      *counters->deallocated_bytes - deallocated_bytes_before_);
  if (succeeded && in_place) {
    counters->kept_in_place_bytes.store(
        counters->kept_in_place_bytes.load(std::memory_order_relaxed) +
            std::min(handed_out_bytes, taken_back_bytes),
        std::memory_order_relaxed);
    AfterAllocation(nullptr);
  } else if (succeeded) {
    CountCall(counters);
    CheckLevel(counters, counters->live_bytes() + taken_back_bytes);
  }
  AfterDeallocation();
}

ThreadRecord* BeginThread(void* (*function)(void*), void* argument) {
  RegisterThread();
  ProcessLock lock;
  ThreadCounters* counters = &thread_counters;
  if (counters->state != State::kRegistered) return nullptr;
  ThreadRecord* const record = NewRecord();
  record->function = function;
  record->argument = argument;
  EndSegment(counters);
  AddChild(process.open_phases, &counters->record->node, &record->node);
  return record;
}

void* RunThread(void* given_record) {
  auto* const record = static_cast<ThreadRecord*>(given_record);
  void* (*const function)(void*) = record->function;
  void* const argument = record->argument;
  {
    ProcessLock lock;
    record->function = nullptr;
    if (record->is_given_up) {
      FreeRecord(record);
    } else {
      record->thread = pthread_self();
      record->has_number = true;
      thread_counters.record = record;
      thread_counters.record_number = record->number;
    }
  }
  return function(argument);
}

void EndCreation(ThreadRecord* record, int error, const pthread_t* thread) {
  ProcessLock lock;
  if (error != 0) {
    record->function = nullptr;
    MakeRoot(record);
    return;
  }
  // A thread that detached itself has no record by now.
  const ThreadNode* child = thread_counters.record->node.last_child;
  while (child != nullptr && child != &record->node) {
    child = child->previous_sibling;
  }
  if (child == nullptr) return;
  record->thread = *thread;
  record->has_number = true;
  record->node.creator_activity = thread_counters.activity();
}

ThreadRecord* BeginJoin(pthread_t thread) {
  ProcessLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record == nullptr) return nullptr;
  ThreadRecord* const joiner = OwnRecord(thread_counters);
  if (joiner == nullptr || record->node.creator != &joiner->node) {
    MakeRoot(record);
    return nullptr;
  }
  record->joiner_activity = thread_counters.activity();
  return record;
}

void EndJoin(ThreadRecord* record, bool succeeded) {
  if (record == nullptr || !succeeded) return;
  ProcessLock lock;
  ThreadNode* const joiner = record->node.creator;
  if (joiner == nullptr) return;
  EndSegment(&thread_counters);
  // What the join itself freed comes after the thread's end.
  const uint64_t activity = joiner->activity;
  joiner->activity = record->joiner_activity;
  JoinChild(process.open_phases, &record->node);
  joiner->activity = activity;
  DropRecord(record);
}

void ForgetThread(pthread_t thread) {
  ProcessLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record != nullptr) MakeRoot(record);
}

void CountMappedBytes(int64_t change_bytes) {
  ProcessLock lock;
  // The peak of what is mapped depends on the order of threads, too.
  ThreadCounters* const counters = &thread_counters;
  ++counters->mapping_count;
  ThreadRecord* const record = OwnRecord(*counters);
  if (counters->state == State::kEnded && record != nullptr) {
    LookAt(*counters, counters->summed_live_bytes, record);
  }
  process.mapped_bytes += change_bytes;
  process.mapped_peak_absolute_bytes =
      std::max(process.mapped_peak_absolute_bytes, process.mapped_bytes);
}

bool CountersAreInUse() { return process.in_use; }

int BeginPhase() {
  // So that no other thread passes for the only one.
  RegisterThread();
  ProcessLock lock;
  for (int slot = 0; slot < kMaxOpenPhases; ++slot) {
    if (process.phases[slot].open) continue;
    BeginPhaseSlot(slot, FoldPeaks());
    return slot;
  }
  return -1;
}

HeapPhaseBytes ReadPhase(int phase) {
  RegisterThread();
  ProcessLock lock;
  return ReadPhaseSlot(phase, FoldPeaks());
}

HeapPhaseBytes EndPhase(int phase) {
  RegisterThread();
  ProcessLock lock;
  const HeapPhaseBytes bytes = ReadPhaseSlot(phase, FoldPeaks());
  SetOpen(phase, false);
  return bytes;
}

int64_t ProcessLiveBytes() {
  ProcessLock lock;
  return SumLiveBytes(nullptr, 0);
}

int ForkedProcessCount() { return process.forked_process_count.load(); }

void SetRequestedBytesCounter(const RequestedBytesCounter* counter) {
  ProcessLock lock;
  process.requested = counter;
}

bool RequestedBytesHaveCounter() { return process.requested != nullptr; }

}  // namespace footprint::profiling_internal

#include "footprint/profiling/heap/heap_ledger.h"

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
__thread ThreadAccount thread_account;

struct ThreadRecord {
  ThreadNode node;
  // Null before the thread's first call and after its last.
  ThreadAccount* account = nullptr;
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

using State = ThreadAccount::State;

struct Totals {
  int64_t live_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;

  void Add(const ThreadAccount& account) {
    live_bytes += account.live_bytes();
    allocated_bytes += static_cast<int64_t>(__atomic_load_n(
                           account.allocated_bytes, __ATOMIC_RELAXED)) -
                       account.kept_in_place_bytes.load();
    allocation_count += account.allocation_count.load();
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

struct Region {
  bool open = false;
  Quantities begin;
  Quantities peak;
  // Of threads that ended in the region and that nobody joins.
  int64_t ended_thread_peak_bytes = 0;
  int ended_root_count = 0;
  bool ended_roots_overlap = false;
  int ended_active_thread_count = 0;
};

struct Ledger {
  // Adaptive: it is held for some nanoseconds, too short to sleep for.
  pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  // Whether the kernel offers what SynchroniseThreads needs.
  bool can_synchronise = false;
  bool in_use = false;
  pthread_key_t thread_end_key = 0;
  ThreadAccount* first_account = nullptr;
  int account_count = 0;
  ThreadRecord* first_record = nullptr;
  ThreadRecord* free_records = nullptr;
  uint64_t record_count = 0;
  RegionSet open_regions = 0;
  // Since the last region event.
  int64_t peak_bytes = 0;
  // Of all accounts; kept only while there are several.
  int64_t sum_of_limits = 0;
  // What threads that ended left behind.
  Totals ended;
  int64_t mapped_bytes = 0;
  int64_t mapped_peak_bytes = 0;
  Region regions[kMaxOpenRegions];
  const RequestedBytesCounter* requested = nullptr;
  std::atomic<int> forked_process_count{0};
};

Ledger ledger;

class LedgerLock {
 public:
  LedgerLock() { pthread_mutex_lock(&ledger.lock); }
  ~LedgerLock() { pthread_mutex_unlock(&ledger.lock); }
  LedgerLock(const LedgerLock&) = delete;
  LedgerLock& operator=(const LedgerLock&) = delete;
};

// The functions below need the lock.

// Only a thread that can be made to see when it is no longer alone is spared
// the looks that several threads need.
bool OneThreadIsAlone() {
  return ledger.account_count == 1 && ledger.can_synchronise;
}

void SetLimit(ThreadAccount* account, int64_t limit_bytes) {
  // No store that changes nothing: it would take the cache line from the
  // thread.
  if (limit_bytes == account->counted_limit_bytes &&
      limit_bytes == account->limit_bytes.load()) {
    return;
  }
  ledger.sum_of_limits += limit_bytes - account->counted_limit_bytes;
  account->counted_limit_bytes = limit_bytes;
  if (account->is_settling) return;
  account->limit_bytes.store(limit_bytes);
  account->floor_bytes.store(limit_bytes - kWindowBytes);
  account->has_floor.store(true);
  account->check_at_bytes.store(0);
}

// Makes the thread's next call come to the ledger.
void CallBack(ThreadAccount* account) {
  account->check_at_bytes.store(0);
  account->limit_bytes.store(INT64_MIN);
  account->floor_bytes.store(INT64_MAX);
  account->has_floor.store(true);
}

// A thread that runs meanwhile either did what it was doing, stores included,
// before this call, or will see what was stored before it.
void SynchroniseThreads() {
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

// The only thread may grow to the peak, and its frees concern nobody.
void SetLimitOfOnlyThread() {
  ThreadAccount* account = ledger.first_account;
  account->is_settling = false;
  account->limit_bytes.store(ledger.peak_bytes - ledger.ended.live_bytes);
  account->has_floor.store(false);
  account->check_at_bytes.store(0);
  if (account == &thread_account) return;
  // The thread may be about to store what it computed from the old limit.
  SynchroniseThreads();
  account->check_at_bytes.store(0);
}

// Live bytes of all threads, `account` at `level_bytes` (null: every thread as
// it is) and the others as far as their windows allow.
int64_t SumLiveBytes(const ThreadAccount* account, int64_t level_bytes) {
  int64_t sum = ledger.ended.live_bytes;
  for (ThreadAccount* each = ledger.first_account; each != nullptr;
       each = each->next) {
    if (each == account) {
      each->summed_live_bytes = level_bytes;
    } else if (each == &thread_account || each->is_settling ||
               OneThreadIsAlone()) {
      each->summed_live_bytes = each->live_bytes();
    } else {
      const int64_t limit_bytes = each->counted_limit_bytes;
      each->summed_live_bytes =
          std::max(limit_bytes - kWindowBytes,
                   std::min(each->live_bytes(), limit_bytes));
    }
    sum += each->summed_live_bytes;
  }
  return sum;
}

// Gives every thread an equal share of what is left below the peak, after
// SumLiveBytes found `sum_bytes`.
void ShareHeadroom(int64_t sum_bytes) {
  if (OneThreadIsAlone()) {
    SetLimitOfOnlyThread();
    return;
  }
  const int64_t headroom_bytes =
      ledger.account_count == 0
          ? 0
          : (ledger.peak_bytes - sum_bytes) / ledger.account_count;
  const int64_t share_bytes = std::min(headroom_bytes, kWindowBytes / 2);
  for (ThreadAccount* each = ledger.first_account; each != nullptr;
       each = each->next) {
    SetLimit(each, each->summed_live_bytes + share_bytes);
  }
}

// Moves the window of the calling thread around its live bytes, without giving
// it more than others leave.
void CentreWindow(ThreadAccount* account) {
  const int64_t left_bytes =
      ledger.peak_bytes - ledger.ended.live_bytes -
      (ledger.sum_of_limits - account->counted_limit_bytes);
  SetLimit(account,
           std::min(account->live_bytes() + kWindowBytes / 2, left_bytes));
}

void RaiseLimit(ThreadAccount* account, int64_t level_bytes) {
  if (!OneThreadIsAlone()) {
    const int64_t others_bytes =
        ledger.sum_of_limits - account->counted_limit_bytes;
    if (level_bytes + others_bytes + ledger.ended.live_bytes <=
        ledger.peak_bytes) {
      CentreWindow(account);
      return;
    }
  }
  const int64_t sum_bytes = SumLiveBytes(account, level_bytes);
  ledger.peak_bytes = std::max(ledger.peak_bytes, sum_bytes);
  ShareHeadroom(sum_bytes);
  // A block that was live for the moment only is gone by now.
  if (!OneThreadIsAlone() && level_bytes > account->live_bytes()) {
    CentreWindow(account);
  }
}

// The first thread had no floor while it was alone, and looked before each free
// whether it had. One free may have looked before it got one and end at any
// time: until the thread's next call, its live bytes are taken as they are
// read.
void BeginWindows() {
  ThreadAccount* account = ledger.first_account;
  account->is_settling = true;
  CallBack(account);
  SynchroniseThreads();
  account->check_at_bytes.store(0);
  account->counted_limit_bytes = std::min(
      account->live_bytes(), ledger.peak_bytes - ledger.ended.live_bytes);
  ledger.sum_of_limits = account->counted_limit_bytes;
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
    records[i].next = ledger.free_records;
    ledger.free_records = &records[i];
  }
}

ThreadRecord* NewRecord() {
  if (ledger.free_records == nullptr) MapRecords();
  ThreadRecord* const record = ledger.free_records;
  ledger.free_records = record->next;
  new (record) ThreadRecord();
  record->number = ++ledger.record_count;
  record->next = ledger.first_record;
  if (record->next != nullptr) record->next->previous = record;
  ledger.first_record = record;
  return record;
}

void FreeRecord(ThreadRecord* record) {
  record->number = 0;
  record->previous = nullptr;
  record->next = ledger.free_records;
  ledger.free_records = record;
}

// Of a thread without a creator, children and account.
void DropRecord(ThreadRecord* record) {
  (record->previous != nullptr ? record->previous->next : ledger.first_record) =
      record->next;
  if (record->next != nullptr) record->next->previous = record->previous;
  if (record->function != nullptr) {
    // RunThread is on its way to it.
    record->is_given_up = true;
  } else {
    FreeRecord(record);
  }
}

// What a root that ended adds to every region that is still open.
void DropEndedRoot(ThreadRecord* record) {
  for (int i = 0; i < kMaxOpenRegions; ++i) {
    Region& region = ledger.regions[i];
    if (!region.open) continue;
    region.ended_thread_peak_bytes += HighestBytes(i, record->node);
    if (IsActive(i, record->node)) ++region.ended_root_count;
    region.ended_roots_overlap |= Overlaps(i, record->node);
  }
  DropRecord(record);
}

// Nobody who is known joins it.
void MakeRoot(ThreadRecord* record) {
  if (record->node.creator != nullptr) {
    DetachChild(ledger.open_regions, &record->node);
  }
  if (record->has_ended) {
    DropEndedRoot(record);
  } else if (record->account == nullptr) {
    DropRecord(record);
  }
}

// The calling thread's or an account's own record, if it still is.
ThreadRecord* OwnRecord(const ThreadAccount& account) {
  return account.record != nullptr &&
                 account.record->number == account.record_number
             ? account.record
             : nullptr;
}

void LookAt(const ThreadAccount& account, int64_t live_bytes,
            ThreadRecord* record) {
  record->node.live_bytes = live_bytes;
  record->node.activity = account.activity();
}

// Begins a stretch of the calling thread's course.
void EndStretch(ThreadAccount* account) {
  ThreadRecord* const record = account->record;
  const int64_t live_bytes = account->live_bytes();
  LookAt(*account, live_bytes, record);
  RaiseHighest(ledger.open_regions,
               std::max(account->peak_bytes.load(), live_bytes), &record->node);
  account->peak_bytes.store(live_bytes);
  account->check_at_bytes.store(0);
}

void InsertAccount(ThreadAccount* account) {
  if (OneThreadIsAlone()) BeginWindows();
  account->peak_bytes.store(0);
  if (OwnRecord(*account) == nullptr) {
    account->record = NewRecord();
    account->record_number = account->record->number;
  }
  account->record->account = account;
  account->next = ledger.first_account;
  ledger.first_account = account;
  ++ledger.account_count;
  account->state = State::kOpen;
  // This also counts what the thread did before its account was open.
  RaiseLimit(account, account->live_bytes());
}

bool WasActive(const ThreadAccount& account, int region) {
  return account.activity() !=
         account.record->node.in_region[region].begin_activity;
}

void RemoveAccount(ThreadAccount* account) {
  ThreadAccount** link = &ledger.first_account;
  while (*link != account) link = &(*link)->next;
  *link = account->next;
  ledger.sum_of_limits -= account->counted_limit_bytes;
  for (int i = 0; i < kMaxOpenRegions; ++i) {
    if (!ledger.regions[i].open) continue;
    if (WasActive(*account, i)) ++ledger.regions[i].ended_active_thread_count;
  }
  EndStretch(account);
  ThreadRecord* const record = account->record;
  record->account = nullptr;
  record->has_ended = true;
  while (record->node.first_child != nullptr) {
    MakeRoot(RecordOf(record->node.first_child));
  }
  if (record->node.creator == nullptr) DropEndedRoot(record);
  ledger.ended.Add(*account);
  account->state = State::kClosed;
  // Every later call of this thread comes to CountAfterEnd.
  CallBack(account);
  account->summed_live_bytes = account->live_bytes();
  --ledger.account_count;
  if (OneThreadIsAlone()) SetLimitOfOnlyThread();
}

// A call of a thread whose account is closed: the last destructors. What
// changed since the last such call goes to the account of those that ended.
void CountAfterEnd(ThreadAccount* account, bool is_allocation) {
  const int64_t live_bytes = account->live_bytes();
  const int64_t change_bytes = live_bytes - account->summed_live_bytes;
  account->summed_live_bytes = live_bytes;
  ledger.ended.live_bytes += change_bytes;
  if (is_allocation) {
    ledger.ended.allocated_bytes += change_bytes;
    ++ledger.ended.allocation_count;
  }
  ThreadRecord* const record = OwnRecord(*account);
  if (record != nullptr) LookAt(*account, live_bytes, record);
  for (int i = 0; i < kMaxOpenRegions && change_bytes > 0; ++i) {
    if (!ledger.regions[i].open) continue;
    (record != nullptr ? record->node.in_region[i].highest_bytes
                       : ledger.regions[i].ended_thread_peak_bytes) +=
        change_bytes;
  }
  const int64_t sum_bytes = SumLiveBytes(nullptr, 0);
  ledger.peak_bytes = std::max(ledger.peak_bytes, sum_bytes);
  ShareHeadroom(sum_bytes);
}

Quantities CurrentQuantities(int64_t live_bytes) {
  Totals totals = ledger.ended;
  for (const ThreadAccount* each = ledger.first_account; each != nullptr;
       each = each->next) {
    totals.Add(*each);
  }
  Quantities now;
  now[HeapQuantity::kLiveBytes] = live_bytes;
  now[HeapQuantity::kAllocatedBytes] = totals.allocated_bytes;
  now[HeapQuantity::kAllocationCount] = totals.allocation_count;
  now[HeapQuantity::kMappedBytes] = ledger.mapped_bytes;
  if (ledger.requested != nullptr) {
    now[HeapQuantity::kRequestedBytes] = ledger.requested->live_bytes();
  }
  return now;
}

// Since the last region event, of what is not only ever added to.
Quantities TakePeaks() {
  Quantities peaks;
  peaks[HeapQuantity::kLiveBytes] = ledger.peak_bytes;
  peaks[HeapQuantity::kMappedBytes] = ledger.mapped_peak_bytes;
  if (ledger.requested != nullptr) {
    peaks[HeapQuantity::kRequestedBytes] = ledger.requested->take_peak_bytes();
  }
  ledger.mapped_peak_bytes = ledger.mapped_bytes;
  return peaks;
}

void FoldThreadPeaks() {
  for (ThreadAccount* each = ledger.first_account; each != nullptr;
       each = each->next) {
    LookAt(*each, each->summed_live_bytes, each->record);
    RaiseHighest(ledger.open_regions, each->peak_bytes.load(),
                 &each->record->node);
    each->peak_bytes.store(each->summed_live_bytes);
  }
}

// Gives the peaks since the last region event to every open region and starts
// new ones from what is live now, which is returned.
int64_t FoldPeaks() {
  const int64_t live_bytes = SumLiveBytes(nullptr, 0);
  const Quantities peaks = TakePeaks();
  for (Region& region : ledger.regions) {
    if (region.open) region.peak.RaiseTo(peaks);
  }
  FoldThreadPeaks();
  ledger.peak_bytes = live_bytes;
  ShareHeadroom(live_bytes);
  return live_bytes;
}

void SetOpen(int slot, bool is_open) {
  ledger.regions[slot].open = is_open;
  const RegionSet bit = RegionSet{1} << slot;
  ledger.open_regions =
      is_open ? ledger.open_regions | bit : ledger.open_regions & ~bit;
}

void OpenRegionSlot(int slot, int64_t live_bytes) {
  Region& region = ledger.regions[slot];
  region = Region();
  SetOpen(slot, true);
  region.begin = CurrentQuantities(live_bytes);
  region.peak = region.begin;
  for (ThreadRecord* each = ledger.first_record; each != nullptr;
       each = each->next) {
    BeginRegion(slot, &each->node);
  }
}

// The bound over all interleavings.
int64_t SumThreadPeaks(int slot) {
  int64_t sum_bytes = ledger.regions[slot].ended_thread_peak_bytes;
  for (const ThreadRecord* each = ledger.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator == nullptr) {
      sum_bytes += HighestBytes(slot, each->node);
    }
  }
  return sum_bytes;
}

// Whether there are several interleavings.
bool ThreadsMayOverlap(int slot) {
  const Region& region = ledger.regions[slot];
  int active_root_count = region.ended_root_count;
  bool overlap = region.ended_roots_overlap;
  for (const ThreadRecord* each = ledger.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator != nullptr) continue;
    overlap |= Overlaps(slot, each->node);
    if (IsActive(slot, each->node)) ++active_root_count;
  }
  return overlap || active_root_count > 1;
}

int64_t MetricValue(const HeapMetric& metric, int slot, const Quantities& end) {
  const Region& region = ledger.regions[slot];
  const HeapQuantity quantity = metric.quantity;
  switch (metric.statistic) {
    case HeapStatistic::kNetPeak:
      return region.peak[quantity] - region.begin[quantity];
    case HeapStatistic::kAbsolutePeak:
      return region.peak[quantity];
    case HeapStatistic::kNetChange:
      return end[quantity] - region.begin[quantity];
    case HeapStatistic::kNetThreadPeakSum:
      return SumThreadPeaks(slot);
  }
  return 0;
}

HeapRegionBytes ReadRegionSlot(int slot, int64_t live_bytes) {
  const Quantities end = CurrentQuantities(live_bytes);
  HeapRegionBytes bytes;
  for (const HeapMetric& metric : kHeapMetrics) {
    bytes.*metric.member = MetricValue(metric, slot, end);
  }
  bytes.threads_may_overlap = ThreadsMayOverlap(slot);
  bytes.active_thread_count = ledger.regions[slot].ended_active_thread_count;
  for (const ThreadAccount* each = ledger.first_account; each != nullptr;
       each = each->next) {
    if (WasActive(*each, slot)) ++bytes.active_thread_count;
  }
  return bytes;
}

// Of the youngest thread of that number: the number of one that ended may be
// used anew.
ThreadRecord* FindRecord(pthread_t thread) {
  for (ThreadRecord* each = ledger.first_record; each != nullptr;
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
void DelayNextCheck(ThreadAccount* account) {
  while (!account->has_floor.load()) {
    const int64_t limit_bytes = account->limit_bytes.load();
    const int64_t headroom_bytes =
        std::min(limit_bytes, account->peak_bytes.load()) -
        account->live_bytes();
    account->check_at_bytes.store(
        *account->allocated_bytes + 1 +
            static_cast<uint64_t>(std::max<int64_t>(0, headroom_bytes)),
        std::memory_order_relaxed);
    // Against the compiler; against the processor, SynchroniseThreads.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (account->limit_bytes.load() == limit_bytes &&
        !account->has_floor.load()) {
      return;
    }
  }
  account->check_at_bytes.store(0, std::memory_order_relaxed);
}

// `level_bytes` is the calling thread's live bytes, or more where two blocks
// were live for the moment.
void CheckLevel(ThreadAccount* account, int64_t level_bytes) {
  if (account->state == State::kNew) {
    OpenThreadAccount();
    return;
  }
  if (level_bytes > account->peak_bytes.load(std::memory_order_relaxed)) {
    account->peak_bytes.store(level_bytes, std::memory_order_relaxed);
  }
  if (level_bytes > account->limit_bytes.load(std::memory_order_relaxed)) {
    LedgerLock lock;
    if (account->state == State::kClosed) {
      CountAfterEnd(account, /*is_allocation=*/true);
      return;
    }
    account->is_settling = false;
    // Again: a region event may have begun a new peak since the look above.
    account->peak_bytes.store(
        std::max(account->peak_bytes.load(), level_bytes));
    RaiseLimit(account, level_bytes);
  }
  if (!account->has_floor.load(std::memory_order_relaxed)) {
    DelayNextCheck(account);
  }
}

// pthread's callbacks.

// Destructors that run after this one are counted by CountAfterEnd.
void AtThreadEnd(void* /*account*/) {
  LedgerLock lock;
  RemoveAccount(&thread_account);
}

void BeforeFork() { pthread_mutex_lock(&ledger.lock); }
void AfterForkInParent() {
  ++ledger.forked_process_count;
  pthread_mutex_unlock(&ledger.lock);
}
// Only the thread that forked lives on. The others' accounts must go: their
// storage is used anew by threads that the child starts.
void AfterForkInChild() {
  for (ThreadAccount* each = ledger.first_account; each != nullptr;) {
    ThreadAccount* const next = each->next;
    if (each != &thread_account) RemoveAccount(each);
    each = next;
  }
  for (ThreadRecord* each = ledger.first_record; each != nullptr;) {
    ThreadRecord* const next = each->next;
    if (each != OwnRecord(thread_account)) MakeRoot(each);
    each = next;
  }
  pthread_mutex_unlock(&ledger.lock);
}

// Not in the first allocation: registering may itself allocate. Before
// mapping_entry_points.cc, whose lock is taken before this one: what is
// registered last is called first before a fork.
__attribute__((constructor(101))) void WatchForks() {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace

void OpenThreadAccount() {
  ThreadAccount* account = &thread_account;
  if (account->state != State::kNew) return;
  const ThreadHeapCounters counters = FindThreadHeapCounters();
  if (counters.allocated_bytes == nullptr) return;
  account->allocated_bytes = counters.allocated_bytes;
  account->deallocated_bytes = counters.deallocated_bytes;
  LedgerLock lock;
  if (!ledger.in_use) {
    ledger.in_use = true;
    ledger.can_synchronise =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
    pthread_key_create(&ledger.thread_end_key, AtThreadEnd);
    SetOpen(kProcessRegion, true);
  }
  pthread_setspecific(ledger.thread_end_key, account);
  InsertAccount(account);
  account->peak_bytes.store(std::max<int64_t>(account->live_bytes(), 0));
}

void* CheckAllocation(void* block) {
  CheckLevel(&thread_account, thread_account.live_bytes());
  return block;
}

void FreedBelowFloor() {
  ThreadAccount* account = &thread_account;
  if (account->state == State::kNew) {
    OpenThreadAccount();
    return;
  }
  LedgerLock lock;
  if (account->state == State::kClosed) {
    CountAfterEnd(account, /*is_allocation=*/false);
  } else if (!OneThreadIsAlone()) {
    account->is_settling = false;
    CentreWindow(account);
  }
}

Reallocation::Reallocation() {
  if (thread_account.state == State::kNew) OpenThreadAccount();
  allocated_bytes_before_ = *thread_account.allocated_bytes;
  deallocated_bytes_before_ = *thread_account.deallocated_bytes;
}

void Reallocation::After(bool in_place, bool succeeded) {
  ThreadAccount* account = &thread_account;
  const int64_t handed_out_bytes =
      static_cast<int64_t>(*account->allocated_bytes - allocated_bytes_before_);
  const int64_t taken_back_bytes = static_cast<int64_t>(
      *account->deallocated_bytes - deallocated_bytes_before_);
  if (succeeded && in_place) {
    account->kept_in_place_bytes.store(
        account->kept_in_place_bytes.load(std::memory_order_relaxed) +
            std::min(handed_out_bytes, taken_back_bytes),
        std::memory_order_relaxed);
    AfterAllocation(nullptr);
  } else if (succeeded) {
    CountCall(account);
    CheckLevel(account, account->live_bytes() + taken_back_bytes);
  }
  AfterDeallocation();
}

ThreadRecord* BeginThread(void* (*function)(void*), void* argument) {
  OpenThreadAccount();
  LedgerLock lock;
  ThreadAccount* account = &thread_account;
  if (account->state != State::kOpen) return nullptr;
  ThreadRecord* const record = NewRecord();
  record->function = function;
  record->argument = argument;
  EndStretch(account);
  AddChild(ledger.open_regions, &account->record->node, &record->node);
  return record;
}

void* RunThread(void* given_record) {
  auto* const record = static_cast<ThreadRecord*>(given_record);
  void* (*const function)(void*) = record->function;
  void* const argument = record->argument;
  {
    LedgerLock lock;
    record->function = nullptr;
    if (record->is_given_up) {
      FreeRecord(record);
    } else {
      record->thread = pthread_self();
      record->has_number = true;
      thread_account.record = record;
      thread_account.record_number = record->number;
    }
  }
  return function(argument);
}

void EndCreation(ThreadRecord* record, int error, const pthread_t* thread) {
  LedgerLock lock;
  if (error != 0) {
    record->function = nullptr;
    MakeRoot(record);
    return;
  }
  // A thread that detached itself has no record by now.
  const ThreadNode* child = thread_account.record->node.last_child;
  while (child != nullptr && child != &record->node) {
    child = child->previous_sibling;
  }
  if (child == nullptr) return;
  record->thread = *thread;
  record->has_number = true;
  record->node.creator_activity = thread_account.activity();
}

ThreadRecord* BeginJoin(pthread_t thread) {
  LedgerLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record == nullptr) return nullptr;
  ThreadRecord* const joiner = OwnRecord(thread_account);
  if (joiner == nullptr || record->node.creator != &joiner->node) {
    MakeRoot(record);
    return nullptr;
  }
  record->joiner_activity = thread_account.activity();
  return record;
}

void EndJoin(ThreadRecord* record, bool succeeded) {
  if (record == nullptr || !succeeded) return;
  LedgerLock lock;
  ThreadNode* const joiner = record->node.creator;
  if (joiner == nullptr) return;
  EndStretch(&thread_account);
  // What the join itself freed comes after the thread's end.
  const uint64_t activity = joiner->activity;
  joiner->activity = record->joiner_activity;
  JoinChild(ledger.open_regions, &record->node);
  joiner->activity = activity;
  DropRecord(record);
}

void ForgetThread(pthread_t thread) {
  LedgerLock lock;
  ThreadRecord* const record = FindRecord(thread);
  if (record != nullptr) MakeRoot(record);
}

void CountMappedBytes(int64_t change_bytes) {
  LedgerLock lock;
  // The peak of what is mapped depends on the order of threads, too.
  ThreadAccount* const account = &thread_account;
  ++account->mapping_count;
  ThreadRecord* const record = OwnRecord(*account);
  if (account->state == State::kClosed && record != nullptr) {
    LookAt(*account, account->summed_live_bytes, record);
  }
  ledger.mapped_bytes += change_bytes;
  ledger.mapped_peak_bytes =
      std::max(ledger.mapped_peak_bytes, ledger.mapped_bytes);
}

bool LedgerIsInUse() { return ledger.in_use; }

int OpenRegion() {
  // So that no other thread passes for the only one.
  OpenThreadAccount();
  LedgerLock lock;
  for (int slot = 0; slot < kMaxOpenRegions; ++slot) {
    if (ledger.regions[slot].open) continue;
    OpenRegionSlot(slot, FoldPeaks());
    return slot;
  }
  return -1;
}

HeapRegionBytes ReadRegion(int region) {
  OpenThreadAccount();
  LedgerLock lock;
  return ReadRegionSlot(region, FoldPeaks());
}

HeapRegionBytes CloseRegion(int region) {
  OpenThreadAccount();
  LedgerLock lock;
  const HeapRegionBytes bytes = ReadRegionSlot(region, FoldPeaks());
  SetOpen(region, false);
  return bytes;
}

int64_t LedgerLiveBytes() {
  LedgerLock lock;
  return SumLiveBytes(nullptr, 0);
}

int ForkedProcessCount() { return ledger.forked_process_count.load(); }

void SetRequestedBytesCounter(const RequestedBytesCounter* counter) {
  LedgerLock lock;
  ledger.requested = counter;
}

bool RequestedBytesHaveCounter() { return ledger.requested != nullptr; }

}  // namespace footprint::profiling_internal

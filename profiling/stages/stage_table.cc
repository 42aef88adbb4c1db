#include "footprint/profiling/stages/stage_table.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/threads/fork_handlers.h"
#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_registration.h"
#include "footprint/profiling/sites/call_sites.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/number_index.h"

namespace footprint::profiling_internal {
namespace {

// Imports and files may use at most half of the phases, so that named stages
// have room.
constexpr int kMaxOpenVisits = 256;
constexpr int kMaxMeasuredAutomaticVisits = kMaxOpenPhases / 2 - 1;
constexpr int64_t kUnrecordedVisit = -1;
// The last entries are for stages that find no room under their own name.
constexpr uint32_t kMaxOwnStages = kMaxStages - 3;

struct Visit {
  int64_t number;
  uint32_t stage;
  uint32_t thread;
  StageKind kind;
  // How many visits of its thread were open and not recorded when it began.
  int unrecorded_before;
  HeapPhase phase;
  int64_t begin_time_ns;
};

PthreadMutex lock;
__thread bool is_inside __attribute__((tls_model("initial-exec"))) = false;

// The thread's number, and how many of its named visits are not recorded.
__thread uint32_t thread_number __attribute__((tls_model("initial-exec"))) = 0;
__thread int unrecorded_visits __attribute__((tls_model("initial-exec"))) = 0;
std::atomic<uint32_t> last_thread{0};

// `is_inside` is set first, so that a signal handler that interrupts a fork
// sees it.
void LockStages() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) {
  is_inside = true;
  lock.Lock();
}

void UnlockStages() ABSL_UNLOCK_FUNCTION(lock) {
  lock.Unlock();
  is_inside = false;
}

// Locks the stages. It may fail for a file: a signal handler that opens a file
// may have interrupted the allocator, whose locks a fork waits for while it
// holds this one.
bool LockStagesFor(StageKind kind) ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true, lock) {
  if (kind != StageKind::kFile) {
    LockStages();
    return true;
  }
  for (int attempt = 0; attempt < 20; ++attempt) {
    is_inside = true;
    if (lock.TryLock()) return true;
    is_inside = false;
    const timespec moment = {0, 10'000};
    nanosleep(&moment, nullptr);
  }
  return false;
}

class ABSL_SCOPED_LOCKABLE StagesLock {
 public:
  StagesLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) { LockStages(); }
  ~StagesLock() ABSL_UNLOCK_FUNCTION() { UnlockStages(); }
  StagesLock(const StagesLock&) = delete;
  StagesLock& operator=(const StagesLock&) = delete;
};

StageFile* stages ABSL_GUARDED_BY(lock) = nullptr;
// In the child of a fork one is the child's file and one the parent's.
GrowingFile files[2] ABSL_GUARDED_BY(lock);
int file_number ABSL_GUARDED_BY(lock) = 0;
GrowingArray stage_array ABSL_GUARDED_BY(lock);
NumberIndex stage_index ABSL_GUARDED_BY(lock);
PublishedHeap* heap ABSL_GUARDED_BY(lock) = nullptr;
// The process that owns the heap. A vforked child that shares our memory until
// exec is another process.
pid_t own_process ABSL_GUARDED_BY(lock) = 0;
uint32_t main_thread ABSL_GUARDED_BY(lock) = 0;
// The open visits, in the order of their start.
Visit visits[kMaxOpenVisits] ABSL_GUARDED_BY(lock);
int visit_count ABSL_GUARDED_BY(lock) = 0;
int64_t last_visit_number ABSL_GUARDED_BY(lock) = 0;

uint32_t ThreadNumber() {
  if (thread_number == 0) thread_number = ++last_thread;
  return thread_number;
}

bool IsAutomatic(const Visit& visit) { return visit.kind != StageKind::kNamed; }

// Unchecked: it is called before the lock is taken, which may be held for ever
// in the child of a vfork. It reads one word.
bool IsOwnProcess() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return __atomic_load_n(&own_process, __ATOMIC_RELAXED) == getpid();
}

uint64_t HashStage(StageKind kind, uint32_t parent, const char* name) {
  uint64_t hash = HashPair(static_cast<uint64_t>(kind), parent);
  const size_t size = strlen(name);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, name + i, std::min(sizeof(word), size - i));
    hash = HashPair(hash, word);
  }
  return hash;
}

// Returns the end of a name that is too long, from the start of a UTF-8
// character.
const char* EndThatFits(const char* name) {
  constexpr size_t kCapacity = sizeof(StageRecord::name) - 1;
  const size_t size = strlen(name);
  if (size <= kCapacity) return name;
  name += size - kCapacity;
  while ((static_cast<unsigned char>(*name) & 0xc0) == 0x80) ++name;
  return name;
}

// Adds a stage and returns its number, or 0 if there is no room.
uint32_t AddStage(StageKind kind, uint32_t parent, const char* name)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  const uint32_t number = stages->stage_count.load(std::memory_order_relaxed);
  if (!stage_array.Reach(number) ||
      !stage_index.Add(HashStage(kind, parent, name), number)) {
    stages->is_full.store(1, std::memory_order_relaxed);
    return 0;
  }
  StageRecord& stage = stages->stages[number];
  strncpy(stage.name, name, sizeof(stage.name) - 1);
  stage.kind = kind;
  stage.parent = parent;
  stages->stage_count.store(number + 1, std::memory_order_release);
  return number;
}

// Returns 0 if the stage does not exist yet.
uint32_t FindKnownStage(StageKind kind, uint32_t parent, const char* name)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  return stage_index.Find(HashStage(kind, parent, name), [&](uint32_t number) {
    lock.AssertHeld();
    const StageRecord& stage = stages->stages[number];
    return stage.kind == kind && stage.parent == parent &&
           strcmp(stage.name, name) == 0;
  });
}

const char* NameOfMore(StageKind kind) {
  switch (kind) {
    case StageKind::kImport:
      return "[more imports]";
    case StageKind::kFile:
      return "[more files]";
    default:
      return "[more stages]";
  }
}

uint32_t FindStage(StageKind kind, uint32_t parent, const char* name)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  name = EndThatFits(name);
  uint32_t known = FindKnownStage(kind, parent, name);
  if (known != 0) return known;
  if (stages->stage_count.load(std::memory_order_relaxed) >= kMaxOwnStages) {
    stages->is_full.store(1, std::memory_order_relaxed);
    name = NameOfMore(kind);
    parent = 0;
    known = FindKnownStage(kind, parent, name);
    if (known != 0) return known;
  }
  return AddStage(kind, parent, name);
}

// Returns the stage of the thread's last visit that may contain others, or 0.
uint32_t LastStageOfThread(uint32_t thread)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  for (int i = visit_count; i-- > 0;) {
    if (visits[i].thread == thread && visits[i].kind != StageKind::kFile) {
      return visits[i].stage;
    }
  }
  return 0;
}

uint32_t ParentOfNewVisit(uint32_t thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  const uint32_t own = LastStageOfThread(thread);
  return own != 0 ? own : LastStageOfThread(main_thread);
}

bool IsImporting(uint32_t thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  return std::any_of(visits, visits + visit_count, [&](const Visit& each) {
    return each.kind == StageKind::kImport && each.thread == thread;
  });
}

void PublishStage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (heap == nullptr) return;
  uint32_t stage = 0;
  for (int i = visit_count; i-- > 0;) {
    if (!IsAutomatic(visits[i])) {
      stage = visits[i].stage;
      break;
    }
    if (stage == 0) stage = visits[i].stage;
  }
  heap->stage.store(stage, std::memory_order_relaxed);
}

bool HasRoom(StageKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (kind == StageKind::kNamed) return visit_count < kMaxOpenVisits;
  return std::count_if(visits, visits + visit_count, IsAutomatic) <
         kMaxOpenVisits / 2;
}

HeapPhase BeginPhase(StageKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (kind != StageKind::kNamed &&
      std::count_if(visits, visits + visit_count, [](const Visit& each) {
        return IsAutomatic(each) && each.phase.number >= 0;
      }) >= kMaxMeasuredAutomaticVisits) {
    return {};
  }
  return TryBeginHeapPhase();
}

void RaiseTo(std::atomic<int64_t>* figure, int64_t value) {
  if (value > figure->load(std::memory_order_relaxed)) {
    figure->store(value, std::memory_order_relaxed);
  }
}

void Add(std::atomic<int64_t>* figure, int64_t value) {
  figure->store(figure->load(std::memory_order_relaxed) + value,
                std::memory_order_relaxed);
}

// Begins the phase as late as possible, so that the work before it does not
// count as the stage's.
void OpenVisit(Visit* visit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  StageRecord& stage = stages->stages[visit->stage];
  visit->phase = BeginPhase(visit->kind);
  visit->begin_time_ns = MonotonicTimeNs();
  if (stage.visit_count.load(std::memory_order_relaxed) == 0) {
    stage.begin_time_ns = visit->begin_time_ns;
  }
  stage.last_begin_time_ns.store(visit->begin_time_ns,
                                 std::memory_order_relaxed);
  stage.last_begin_live_bytes.store(LiveHeapBytes(), std::memory_order_relaxed);
  if (visit->phase.number < 0) Add(&stage.unmeasured_visit_count, 1);
  Add(&stage.visit_count, 1);
  Add(&stage.open_visit_count, 1);
}

int64_t BeginVisitLocked(StageKind kind, const char* name)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (stages == nullptr) return 0;
  const uint32_t thread = ThreadNumber();
  if (kind == StageKind::kFile && IsImporting(thread)) return 0;
  const uint32_t stage =
      HasRoom(kind) ? FindStage(kind, ParentOfNewVisit(thread), name) : 0;
  if (stage == 0) {
    Add(&stages->unrecorded_visit_count, 1);
    if (kind != StageKind::kNamed) return 0;
    ++unrecorded_visits;
    return kUnrecordedVisit;
  }
  Visit& visit = visits[visit_count];
  visit = {++last_visit_number, stage, thread, kind, unrecorded_visits, {}, 0};
  OpenVisit(&visit);
  ++visit_count;
  PublishStage();
  return visit.number;
}

footprint_stage_figures MakeFigures(const Visit& visit,
                                    const HeapPhaseBytes& bytes) {
  return {bytes.peak_live_net_bytes, bytes.peak_live_absolute_bytes,
          bytes.allocated_bytes,     bytes.allocation_count,
          bytes.net_growth_bytes,    MonotonicTimeNs() - visit.begin_time_ns};
}

void EndVisitAt(int index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  const Visit visit = visits[index];
  StageRecord& stage = stages->stages[visit.stage];
  HeapPhaseBytes bytes;
  if (visit.phase.number >= 0) bytes = EndHeapPhase(visit.phase);
  const footprint_stage_figures figures = MakeFigures(visit, bytes);
#define FOOTPRINT_COMBINE(field, member, is_highest, ...) \
  (is_highest ? RaiseTo : Add)(&stage.field, bytes.member);
  FOOTPRINT_STAGE_METRICS(FOOTPRINT_COMBINE)
#undef FOOTPRINT_COMBINE
  Add(&stage.wall_time_ns, figures.wall_time_ns);
  Add(&stage.open_visit_count, -1);
  std::copy(visits + index + 1, visits + visit_count, visits + index);
  --visit_count;
  PublishStage();
}

int FindVisit(int64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  for (int i = visit_count; i-- > 0;) {
    if (visits[i].number == number) return i;
  }
  return -1;
}

// Counts the end of a visit if a named visit inside it, of the same thread, is
// still open.
void NoteCrossing(int index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  for (int i = visit_count; --i > index;) {
    if (IsAutomatic(visits[i]) || visits[i].thread != visits[index].thread) {
      continue;
    }
    if (stages->crossed_end_count.load(std::memory_order_relaxed) == 0) {
      stages->first_crossed_stage.store(visits[index].stage);
      stages->first_stage_inside.store(visits[i].stage);
    }
    Add(&stages->crossed_end_count, 1);
    return;
  }
}

// Ends the visit that the thread began last of those that are not recorded.
void EndUnrecordedVisit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  --unrecorded_visits;
  for (int i = 0; i < visit_count; ++i) {
    if (visits[i].thread != ThreadNumber()) continue;
    visits[i].unrecorded_before =
        std::min(visits[i].unrecorded_before, unrecorded_visits);
  }
}

// Returns false if there is no such visit.
bool EndVisitLocked(StageKind kind, int64_t visit)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (stages == nullptr) return false;
  if (visit == kUnrecordedVisit) {
    if (unrecorded_visits > 0) EndUnrecordedVisit();
    return false;
  }
  const int index = FindVisit(visit);
  if (index < 0) {
    if (kind == StageKind::kNamed) Add(&stages->needless_end_count, 1);
    return false;
  }
  if (kind == StageKind::kNamed) NoteCrossing(index);
  EndVisitAt(index);
  return true;
}

// Returns the index of the named visit that the thread began last, else that
// any thread began last, or -1.
int FindLastNamedVisit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  int last = -1;
  for (int i = visit_count; i-- > 0;) {
    if (IsAutomatic(visits[i])) continue;
    if (visits[i].thread == ThreadNumber()) return i;
    if (last < 0) last = i;
  }
  return last;
}

// Maps a new file besides the one that is mapped.
StageFile* MapStages(int folder, const char* file_name)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  file_number ^= 1;
  GrowingFile* const file = &files[file_number];
  void* const mapped = file->Create(folder, file_name, sizeof(StageFile),
                                    offsetof(StageFile, stages));
  stage_array = GrowingArray(file, offsetof(StageFile, stages),
                             sizeof(StageRecord), kMaxStages);
  if (mapped == nullptr || stage_array.Reach(0)) {
    return static_cast<StageFile*>(mapped);
  }
  file->Close();
  return nullptr;
}

// Copies a stage and those around it from another file. Returns 0 if there is
// no room.
uint32_t CopyStage(const StageFile& from, uint32_t number)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (number == 0) return 0;
  const StageRecord& stage = from.stages[number];
  return FindStage(stage.kind, CopyStage(from, stage.parent), stage.name);
}

// Returns whether a visit goes on in the child of a fork. The other threads are
// gone, but their files are still open, and this thread may be inside stages of
// the main thread.
bool IsInherited(const Visit& visit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  return visit.kind == StageKind::kFile || visit.thread == ThreadNumber() ||
         visit.thread == main_thread;
}

void InheritVisits(const StageFile& parents)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  const int count = visit_count;
  visit_count = 0;
  for (int i = 0; i < count; ++i) {
    Visit visit = visits[i];
    if (visit.phase.number >= 0) EndHeapPhase(visit.phase);
    visit.phase = {};
    if (!IsInherited(visit)) continue;
    visit.stage = CopyStage(parents, visit.stage);
    if (visit.stage == 0) continue;
    if (visit.thread != ThreadNumber()) visit.unrecorded_before = 0;
    visit.thread = ThreadNumber();
    stages->stages[visit.stage].is_inherited = 1;
    visits[visit_count] = visit;
    OpenVisit(&visits[visit_count]);
    ++visit_count;
  }
}

// Runs after the counters' constructor (101), whose lock is taken while this
// one is held.
__attribute__((constructor(102))) void WatchForks() {
  AddForkHandlers({&lock, LockStages, UnlockStages, UnlockStages});
}

// Adds a point, so that the timeline changes its stage when the program does.
// It excludes files: a signal handler may open one while it interrupts the
// timeline.
void AddTimePoint(StageKind kind) {
  if (kind != StageKind::kFile && IsTimeToRecord()) RecordTime(LiveHeapBytes());
}

// Returns whether this thread could take the lock. Another thread soon releases
// it, but a signal handler that interrupted its own thread under the lock would
// wait for ever. If the owner is unknown, a thread is just taking or releasing
// it.
bool IsSoonFree(PthreadMutex* mutex) {
  const auto own_thread = static_cast<int>(syscall(SYS_gettid));
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (mutex->TryLock()) {
      mutex->Unlock();
      return true;
    }
    const int owner = mutex->owner_thread();
    if (owner != 0) return owner != own_thread;
    const timespec moment = {0, 10'000};
    nanosleep(&moment, nullptr);
  }
  return false;
}

}  // namespace

bool BeginStages(int folder, const char* file_name, PublishedHeap* published) {
  RegisterThread();
  StagesLock guard;
  StageFile* const parents = stages;
  heap = published;
  own_process = getpid();
  stage_index.Clear();
  stages = MapStages(folder, file_name);
  if (stages == nullptr) {
    visit_count = 0;
  } else {
    stages->stage_count = 1;
    if (parents != nullptr) InheritVisits(*parents);
  }
  main_thread = ThreadNumber();
  files[file_number ^ 1].Close();
  if (stages == nullptr) return false;
  PublishStage();
  __atomic_store_n(&stages->magic, kStageMagic, __ATOMIC_RELEASE);
  return true;
}

void CompleteStages() {
  if (!IsOwnProcess() || is_inside || !IsSoonFree(&lock)) return;
  StagesLock guard;
  if (stages == nullptr) return;
  while (visit_count > 0) {
    Add(&stages->stages[visits[visit_count - 1].stage].left_open_count, 1);
    EndVisitAt(visit_count - 1);
  }
  // The file stays mapped, and a child that is forked from now on begins
  // without stages.
  stages = nullptr;
}

int64_t BeginVisit(StageKind kind, const char* name) {
  if (name == nullptr || !IsOwnProcess()) return 0;
  // Registration comes before the lock: under it, registration could wait for
  // the allocator's lock, which a fork may hold that waits for this one.
  RegisterThread();
  if (!LockStagesFor(kind)) return 0;
  const int64_t visit = BeginVisitLocked(kind, name);
  UnlockStages();
  AddTimePoint(kind);
  return visit;
}

bool MayEnterStages() {
  return !is_inside && IsOwnProcess() && IsSoonFree(&process.lock);
}

void EndVisit(StageKind kind, int64_t visit) {
  if (visit == 0 || !IsOwnProcess()) return;
  RegisterThread();
  if (!LockStagesFor(kind)) return;
  const bool has_ended = EndVisitLocked(kind, visit);
  UnlockStages();
  if (has_ended) AddTimePoint(kind);
}

void EndLastNamedVisit() {
  if (!IsOwnProcess()) return;
  RegisterThread();
  {
    StagesLock guard;
    if (stages == nullptr) return;
    const int index = FindLastNamedVisit();
    const bool is_own = index >= 0 && visits[index].thread == ThreadNumber();
    if (unrecorded_visits > (is_own ? visits[index].unrecorded_before : 0)) {
      EndUnrecordedVisit();
      return;
    }
    if (index < 0) {
      Add(&stages->needless_end_count, 1);
      return;
    }
    if (!is_own) Add(&stages->other_thread_end_count, 1);
    EndVisitAt(index);
  }
  AddTimePoint(StageKind::kNamed);
}

bool ReadVisit(int64_t visit, footprint_stage_figures* figures) {
  if (!IsOwnProcess()) return false;
  RegisterThread();
  StagesLock guard;
  const int index = stages == nullptr ? -1 : FindVisit(visit);
  if (index < 0 || visits[index].phase.number < 0) return false;
  *figures = MakeFigures(visits[index], ReadHeapPhase(visits[index].phase));
  return true;
}

}  // namespace footprint::profiling_internal

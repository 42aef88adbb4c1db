#include "footprint/memo/memo_core.h"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/memory/allocator.h"
#include "footprint/memo/run_catching.h"
#include "footprint/memo/single_copy.h"

namespace footprint {
namespace memo_internal {

// One load or eviction. Threads wait for it.
struct Attempt {
  bool is_done ABSL_GUARDED_BY(memos_mutex) = false;
  absl::Status status ABSL_GUARDED_BY(memos_mutex);
  CondVar done;
};

// A thread's loads and evictions; a node in the graph of which thread waits for
// which.
struct ThreadRecord {
  // Loads and evictions that run on this thread, the innermost last.
  std::vector<const MemoCore*> running;
  const MemoCore* waits_for ABSL_GUARDED_BY(memos_mutex) = nullptr;
  // Growth within the innermost factory that belongs to other memos.
  MemoryReading excluded;
};

namespace {

// Each nested load takes a kilobyte or two of the thread's stack, plus what its
// factory takes.
constexpr size_t kMostNestedLoads = 1000;

// The registry is never destroyed, since threads may outlive static objects.
struct Registry {
  Registry();

  // Standard containers stay unchanged if an insertion runs out of memory;
  // those of absl are damaged then.
  std::unordered_map<std::string, std::weak_ptr<MemoCore>> by_name
      ABSL_GUARDED_BY(memos_mutex);
  std::unordered_map<const void*, MemoCore*> by_value
      ABSL_GUARDED_BY(memos_mutex);
  // Memos that are being loaded or evicted.
  std::vector<MemoCore*> busy ABSL_GUARDED_BY(memos_mutex);
  // Cores whose last Memo ended while they were pinned.
  std::vector<std::shared_ptr<MemoCore>> kept_for_handles
      ABSL_GUARDED_BY(memos_mutex);
  std::atomic<size_t> kept_count{0};
  MemoTotals totals ABSL_GUARDED_BY(memos_mutex);
};

Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// These run around a fork, so that no child gets a half-changed registry.
void LockRegistry() ABSL_EXCLUSIVE_LOCK_FUNCTION(memos_mutex) {
  memos_mutex.Lock();
}
void UnlockRegistry() ABSL_UNLOCK_FUNCTION(memos_mutex) {
  memos_mutex.Unlock();
}
void UnlockRegistryInChild() ABSL_UNLOCK_FUNCTION(memos_mutex) {
  MemoCore::LoseWhatOthersWereDoing();
  UnlockRegistry();
}

Registry::Registry() {
  pthread_atfork(LockRegistry, UnlockRegistry, UnlockRegistryInChild);
}

// This has no destructor: destructors of thread_local objects, and on the main
// thread those of static objects, use memos. A thread-specific key deletes the
// record after both; the main thread's record stays.
thread_local ThreadRecord* this_thread = nullptr;

void EndThisThread(void* record) {
  this_thread = nullptr;
  delete static_cast<ThreadRecord*>(record);
}

ThreadRecord* ThisThread() {
  if (this_thread != nullptr) return this_thread;
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    if (pthread_key_create(&made, EndThisThread) != 0) {
      std::fprintf(stderr,
                   "memo: the process has no thread-specific key left; delete "
                   "some that it does not need.\n");
      std::abort();
    }
    return made;
  }();
  this_thread = new ThreadRecord;
  pthread_setspecific(key, this_thread);
  return this_thread;
}

// The user's cancellation state of this thread, while memo disables
// cancellation.
thread_local int users_cancel_state = PTHREAD_CANCEL_ENABLE;

// Keeps the growth within its scope out of the bytes of the memo being loaded.
class Exclusion {
 public:
  explicit Exclusion(ThreadRecord* thread)
      : thread_(thread->running.empty() ? nullptr : thread) {
    // Outside a load, no memo counts bytes.
    if (thread_ == nullptr) return;
    outer_ = thread->excluded;
    begin_ = ReadMemory();
  }
  Exclusion(const Exclusion&) = delete;
  Exclusion& operator=(const Exclusion&) = delete;
  ~Exclusion() {
    if (thread_ == nullptr) return;
    thread_->excluded = outer_;
    thread_->excluded += ReadMemory() - begin_;
  }

 private:
  ThreadRecord* const thread_;
  MemoryReading outer_;
  MemoryReading begin_;
};

std::string Quote(const std::string& name) {
  return absl::StrCat("memo \"", name, "\"");
}

// Returns the type's name as a programmer writes it.
std::string TypeName(std::type_index type) {
  int status = 0;
  char* const name =
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  if (name == nullptr) return type.name();
  const std::string readable = name;
  std::free(name);
  return readable;
}

// Returns the status with the memo's name before its message.
absl::Status Annotate(const absl::Status& status, const std::string& name) {
  absl::Status annotated(status.code(),
                         absl::StrCat(Quote(name), ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

}  // namespace

NoCancellation::NoCancellation() : outer_users_state_(users_cancel_state) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &outer_state_);
  users_cancel_state = outer_state_;
}

NoCancellation::~NoCancellation() {
  users_cancel_state = outer_users_state_;
  pthread_setcancelstate(outer_state_, nullptr);
}

UsersCancellation::UsersCancellation() {
  pthread_setcancelstate(users_cancel_state, nullptr);
}

UsersCancellation::~UsersCancellation() {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
}

MemoCore::MemoCore(std::string name, std::type_index type, MemoOptions options)
    : name_(std::move(name)), type_(type) {
  ChooseFence();
  statistics_.name = name_;
  statistics_.declared_bytes = options.declared_bytes;
  statistics_.declared_load_peak_bytes = options.declared_load_peak_bytes;
  statistics_.source_path = std::move(options.source_path);
}

MemoCore::~MemoCore() {
  Registry& registry = TheRegistry();
  MutexLock lock(&memos_mutex);
  auto it = registry.by_name.find(name_);
  // Another memo may have the name by now.
  if (it != registry.by_name.end() && it->second.expired()) {
    registry.by_name.erase(it);
  }
}

void MemoCore::RemoveMemo() {
  // Every thread that pinned the value has since ended a Memo or passed its
  // handle on, so its counts are visible here.
  if (memo_count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!pointer_.IsPinned()) return;
  Registry& registry = TheRegistry();
  MutexLock lock(&memos_mutex);
  registry.kept_for_handles.push_back(shared_from_this());
  registry.kept_count.store(registry.kept_for_handles.size());
}

void MemoCore::EndUnneeded() {
  Registry& registry = TheRegistry();
  if (registry.kept_count.load(std::memory_order_relaxed) == 0) return;
  // These are destroyed after the lock is released.
  std::vector<std::shared_ptr<MemoCore>> ended;
  MutexLock lock(&memos_mutex);
  std::vector<std::shared_ptr<MemoCore>>& kept = registry.kept_for_handles;
  const auto middle =
      std::partition(kept.begin(), kept.end(), [](const auto& memo) {
        return memo->memo_count_.load() == 0 && memo->pointer_.IsPinned();
      });
  ended.assign(std::make_move_iterator(middle),
               std::make_move_iterator(kept.end()));
  kept.erase(middle, kept.end());
  registry.kept_count.store(kept.size());
}

void MemoCore::LoseWhatOthersWereDoing() {
  std::vector<MemoCore*>& busy = TheRegistry().busy;
  const auto lost =
      std::partition(busy.begin(), busy.end(), [](const MemoCore* memo) {
        memos_mutex.AssertHeld();
        return memo->owner_ == this_thread;
      });
  for (auto it = lost; it != busy.end(); ++it) {
    (*it)->state_ = State::kLost;
    (*it)->owner_ = nullptr;
    (*it)->attempt_.reset();
  }
  busy.erase(lost, busy.end());
}

void MemoCore::DestroyLast() {
  if (pointer_.IsPinned()) {
    std::fprintf(stderr, "memo: memo \"%s\" is destroyed while it is pinned.\n",
                 name_.c_str());
    std::abort();
  }
  const NoCancellation no_cancellation;
  const Exclusion exclusion(ThisThread());
  const absl::Status status = EvictUnmeasured();
  (void)status;  // No other thread can hold or load the value any more.
}

std::string MemoCore::FindCycle(const ThreadRecord* me) const {
  std::string path;
  const MemoCore* wanted = this;
  while (wanted != nullptr && wanted->owner_ != nullptr) {
    const ThreadRecord* thread = wanted->owner_;
    const std::vector<const MemoCore*>& running = thread->running;
    auto it = std::find(running.begin(), running.end(), wanted);
    for (; it != running.end(); ++it)
      absl::StrAppend(&path, (*it)->name_, " -> ");
    if (thread == me) return path + name_;
    wanted = thread->waits_for;
  }
  return "";
}

void MemoCore::BeginAttempt(State state, ThreadRecord* thread,
                            const std::shared_ptr<Attempt>& attempt) {
  state_ = state;
  owner_ = thread;
  attempt_ = attempt;
  thread->running.push_back(this);
  TheRegistry().busy.push_back(this);
}

void MemoCore::EndAttempt(State state, ThreadRecord* thread,
                          const absl::Status& status) {
  state_ = state;
  owner_ = nullptr;
  thread->running.pop_back();
  std::vector<MemoCore*>& busy = TheRegistry().busy;
  busy.erase(std::find(busy.begin(), busy.end(), this));
  attempt_->is_done = true;
  attempt_->status = status;
  attempt_->done.NotifyAll();
  attempt_.reset();
}

absl::StatusOr<const void*> MemoCore::AcquireSlowly() {
  const NoCancellation no_cancellation;
  const Exclusion exclusion(ThisThread());
  return AcquireUnmeasured();
}

absl::StatusOr<const void*> MemoCore::AcquireUnmeasured() {
  EndUnneeded();
  ThreadRecord* const thread = ThisThread();
  auto mine = std::make_shared<Attempt>();
  {
    MutexLock lock(&memos_mutex);
    ++missed_pin_count_;
    while (state_ != State::kEmpty) {
      if (state_ == State::kReady) {
        pointer_.Pin();
        return value_;
      }
      const absl::Status status = WaitForAttempt(thread);
      if (!status.ok()) return status;
    }
    if (thread->running.size() >= kMostNestedLoads) {
      return absl::ResourceExhaustedError(absl::StrCat(
          Quote(name_), ": ", kMostNestedLoads,
          " memos are being loaded within each other on this thread, whose "
          "stack would overflow; let a factory load several in a loop"));
    }
    BeginAttempt(State::kLoading, thread, mine);
  }
  return RunLoad(thread);
}

absl::Status MemoCore::WaitForAttempt(ThreadRecord* thread) {
  if (state_ == State::kLost) {
    return absl::FailedPreconditionError(absl::StrCat(
        Quote(name_),
        " was being loaded or evicted by another thread when this process was "
        "forked, and that thread is not in it; fork before or after, or make a "
        "memo of another name here"));
  }
  const std::string cycle = FindCycle(thread);
  if (!cycle.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("memos need each other in a cycle: ", cycle,
                     ". Let one of their factories, or of the destructors of "
                     "their values, "
                     "do without the next memo."));
  }
  // This runs also if the thread is cancelled while it waits.
  struct Waiting {
    ThreadRecord* thread;
    ~Waiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex) {
      thread->waits_for = nullptr;
    }
  };
  const std::shared_ptr<Attempt> theirs = attempt_;
  thread->waits_for = this;
  const Waiting waiting{thread};
  while (!theirs->is_done) {
    const UsersCancellation may_be_cancelled;
    theirs->done.Wait(&memos_mutex);
  }
  return theirs->status;
}

absl::StatusOr<const void*> MemoCore::CallFactory(LoadedBytes* loaded) {
  ThreadRecord* const thread = ThisThread();
  const MemoryReading outer_excluded =
      std::exchange(thread->excluded, MemoryReading());
  LoadMeter meter;
  absl::StatusOr<const void*> value = nullptr;
  const absl::Status status = RunCatching("the factory", [&] {
    value = Load();
    return value.status();
  });
  if (!status.ok()) value = status;
  *loaded = meter.Stop(thread->excluded);
  thread->excluded = outer_excluded;
  if (!value.ok()) return Annotate(value.status(), name_);
  return value;
}

// A load that ends early if its thread is cancelled in the factory. Threads
// that wait for it then get an error.
class MemoCore::UnfinishedLoad {
 public:
  UnfinishedLoad(MemoCore* memo, ThreadRecord* thread)
      : memo_(memo), thread_(thread) {}
  UnfinishedLoad(const UnfinishedLoad&) = delete;
  UnfinishedLoad& operator=(const UnfinishedLoad&) = delete;
  ~UnfinishedLoad() {
    if (is_finished_) return;
    const absl::Status status = Annotate(
        absl::CancelledError("the thread that loaded it was cancelled"),
        memo_->name_);
    MutexLock lock(&memos_mutex);
    ++memo_->statistics_.failed_load_count;
    memo_->EndAttempt(State::kEmpty, thread_, status);
  }

  void Finish() { is_finished_ = true; }

 private:
  MemoCore* const memo_;
  ThreadRecord* const thread_;
  bool is_finished_ = false;
};

absl::StatusOr<const void*> MemoCore::RunLoad(ThreadRecord* thread) {
  // The factory itself may release the memo's last owner.
  const std::shared_ptr<MemoCore> keep = weak_from_this().lock();
  UnfinishedLoad unfinished(this, thread);
  LoadedBytes loaded;
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<const void*> value = CallFactory(&loaded);
  const int64_t nanoseconds =
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin)
          .count();
  // The registry gets the value before readers do, since entering it may fail.
  if (value.ok() && !RememberValue(*value)) {
    Destroy(*value);
    value = Annotate(absl::ResourceExhaustedError("no memory is left"), name_);
  }
  unfinished.Finish();
  // Publishes the result and wakes the threads that wait.
  MutexLock lock(&memos_mutex);
  CountLoad(value, loaded, nanoseconds);
  if (value.ok()) {
    value_ = *value;
    pointer_.Pin();
    pointer_.Publish(value_);
  }
  EndAttempt(value.ok() ? State::kReady : State::kEmpty, thread,
             value.status());
  return value;
}

bool MemoCore::RememberValue(const void* value) {
  Registry& registry = TheRegistry();
  MutexLock lock(&memos_mutex);
  try {
    registry.by_value[value] = this;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void MemoCore::CountLoad(const absl::StatusOr<const void*>& value,
                         const LoadedBytes& loaded, int64_t nanoseconds) {
  statistics_.load_nanoseconds += nanoseconds;
  if (!value.ok()) {
    ++statistics_.failed_load_count;
    return;
  }
  ++statistics_.load_count;
  CountBytes(loaded);
  MemoTotals& totals = TheRegistry().totals;
  ++totals.loaded_count;
  totals.live_bytes += statistics_.live_bytes;
  totals.peak_bytes = std::max(totals.peak_bytes, totals.live_bytes);
}

const char* MemoCore::FindDoubt(const LoadedBytes& loaded) const {
  if (loaded.doubt != nullptr) return loaded.doubt;
  if (loaded.taken_bytes < statistics_.declared_bytes) {
    return "the load took less than was declared, so some of the value may "
           "have been there before";
  }
  if (loaded.taken_bytes == 0 && MayHoldMemory()) {
    return "the load took nothing, so the value may have been there before";
  }
  return nullptr;
}

void MemoCore::CountBytes(const LoadedBytes& loaded) {
  const int64_t declared_bytes = statistics_.declared_bytes;
  const char* const doubt = loaded.is_measured ? FindDoubt(loaded) : nullptr;
  const bool is_certain = loaded.is_measured && doubt == nullptr;
  statistics_.cross_check = loaded.cross_check;
  statistics_.doubt = doubt == nullptr ? "" : doubt;
  statistics_.declared_bytes_differ =
      is_certain && declared_bytes != 0 && declared_bytes != loaded.bytes;
  if (is_certain || (loaded.is_measured && declared_bytes == 0)) {
    statistics_.live_bytes = loaded.bytes;
    statistics_.bytes_source =
        is_certain ? BytesSource::kMeasured : BytesSource::kDoubtful;
  } else {
    statistics_.live_bytes = declared_bytes;
    statistics_.bytes_source =
        declared_bytes != 0 ? BytesSource::kDeclared : BytesSource::kUnknown;
  }
  statistics_.mapped_bytes = loaded.mapped_bytes;
  statistics_.resident_bytes = loaded.resident_bytes;
  statistics_.peak_bytes =
      std::max(statistics_.peak_bytes, statistics_.live_bytes);
  statistics_.load_peak_bytes =
      std::max(statistics_.load_peak_bytes, loaded.peak_bytes);
}

absl::Status MemoCore::Evict(AfterEviction after) {
  const NoCancellation no_cancellation;
  EndUnneeded();
  absl::Status status;
  {
    const Exclusion exclusion(ThisThread());
    status = EvictUnmeasured();
  }
  // A value whose destructor throws is gone all the same.
  if (!absl::IsFailedPrecondition(status) &&
      after == AfterEviction::kPurgeFreeMemory) {
    PurgeFreeMemory();
  }
  return status;
}

absl::Status MemoCore::EvictUnmeasured() {
  ThreadRecord* const thread = ThisThread();
  auto mine = std::make_shared<Attempt>();
  const std::shared_ptr<MemoCore> keep = weak_from_this().lock();
  Registry& registry = TheRegistry();
  const void* value = nullptr;
  // Takes the value away from readers.
  {
    MutexLock lock(&memos_mutex);
    if (state_ == State::kEmpty) return absl::OkStatus();
    if (state_ == State::kLost) {
      return absl::FailedPreconditionError(
          absl::StrCat(Quote(name_),
                       " was lost in the fork of this process; there is "
                       "nothing to evict"));
    }
    if (state_ != State::kReady) {
      return absl::FailedPreconditionError(
          absl::StrCat(Quote(name_), " is being ",
                       state_ == State::kLoading ? "loaded" : "evicted",
                       "; evict it when that is done"));
    }
    if (!pointer_.TryTake()) {
      return absl::FailedPreconditionError(absl::StrCat(
          Quote(name_), " is pinned; evict it when its handles are gone"));
    }
    value = std::exchange(value_, nullptr);
    registry.by_value.erase(value);
    BeginAttempt(State::kEvicting, thread, mine);
  }
  // Threads that ask for the value now wait, so that two values never live at
  // once.
  absl::Status destroyed;
  {
    const MeteredStretch metered;
    destroyed = RunCatching("the destructor of its value", [&] {
      Destroy(value);
      return absl::OkStatus();
    });
  }
  // Counts the eviction and wakes the threads that wait.
  MutexLock lock(&memos_mutex);
  --registry.totals.loaded_count;
  registry.totals.live_bytes -= statistics_.live_bytes;
  statistics_.live_bytes = 0;
  statistics_.mapped_bytes = 0;
  ++statistics_.eviction_count;
  EndAttempt(State::kEmpty, thread, absl::OkStatus());
  return destroyed.ok() ? destroyed : Annotate(destroyed, name_);
}

MemoStatistics MemoCore::statistics() const {
  MutexLock lock(&memos_mutex);
  return LockedStatistics();
}

// Reads memos without owning them: if this function owned the last reference,
// the memo would end here, and its name would stay taken until the list is
// complete.
std::vector<MemoStatistics> MemoCore::ListLoaded() {
  std::vector<MemoStatistics> loaded;
  MutexLock lock(&memos_mutex);
  for (const auto& [value, memo] : TheRegistry().by_value) {
    memos_mutex.AssertHeld();
    if (memo->state_ == State::kReady) {
      loaded.push_back(memo->LockedStatistics());
    }
  }
  return loaded;
}

MemoStatistics MemoCore::LockedStatistics() const {
  MemoStatistics statistics = statistics_;
  statistics.is_loaded = state_ == State::kReady;
  statistics.handle_count = pointer_.live_pin_count();
  // Each load pins once for its caller, and each pin that found nothing is a
  // miss.
  const uint64_t pins = pointer_.pin_count();
  const uint64_t others = missed_pin_count_ + statistics.load_count;
  statistics.hit_count = pins > others ? pins - others : 0;
  return statistics;
}

namespace {

// Returns InvalidArgument if the memo has another type.
absl::Status CheckType(const MemoCore& known, std::type_index type) {
  if (known.type() == type) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(known.name()), " exists with type ",
                   TypeName(known.type()), ", not with type ", TypeName(type),
                   "; ask for that type, or take another name"));
}

}  // namespace

absl::Status AddMemo(std::shared_ptr<MemoCore> made) {
  if (made->name().empty()) {
    return absl::InvalidArgumentError("a memo needs a name; it is empty");
  }
  if (const char* const file = FindOtherCopyInUse(); file != nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this process has two copies of Footprint's memo, and ",
        *file == '\0' ? "the program" : file,
        " uses the other one: memos of the two do not know of each other; link "
        "memo once, as a shared library that both use, or into the program "
        "alone with its symbols exported (-rdynamic)"));
  }
  MemoCore::EndUnneeded();
  Registry& registry = TheRegistry();
  // `known` is declared before the lock, since it may become the last owner.
  std::shared_ptr<MemoCore> known;
  MutexLock lock(&memos_mutex);
  std::weak_ptr<MemoCore>& entry = registry.by_name[made->name()];
  known = entry.lock();
  if (known == nullptr || known->IsUnneeded()) {
    entry = made;
    return absl::OkStatus();
  }
  const absl::Status status = CheckType(*known, made->type());
  if (!status.ok()) return status;
  return absl::AlreadyExistsError(absl::StrCat(
      Quote(made->name()),
      " exists, and two factories cannot have one name: copy that Memo, find "
      "it with FindMemo, or take another name, such as the whole path"));
}

absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByName(
    const std::string& name, std::type_index type) {
  Registry& registry = TheRegistry();
  std::shared_ptr<MemoCore> known;
  MutexLock lock(&memos_mutex);
  const auto it = registry.by_name.find(name);
  if (it != registry.by_name.end()) known = it->second.lock();
  if (known == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no ", Quote(name), "; make it with MakeMemo"));
  }
  const absl::Status status = CheckType(*known, type);
  if (!status.ok()) return status;
  return known;
}

absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByValue(
    const void* value, std::type_index type) {
  Registry& registry = TheRegistry();
  MutexLock lock(&memos_mutex);
  auto it = registry.by_value.find(value);
  std::shared_ptr<MemoCore> memo;
  if (it != registry.by_value.end() && it->second->type() == type) {
    memo = it->second->weak_from_this().lock();
  }
  if (memo == nullptr) {
    return absl::NotFoundError(
        "no memo holds this value; pass what a handle points to, not a copy");
  }
  return memo;
}

}  // namespace memo_internal

namespace {

std::vector<std::shared_ptr<memo_internal::MemoCore>> AllMemos() {
  memo_internal::MemoCore::EndUnneeded();
  std::vector<std::shared_ptr<memo_internal::MemoCore>> memos;
  memo_internal::Registry& registry = memo_internal::TheRegistry();
  MutexLock lock(&memo_internal::memos_mutex);
  for (const auto& [name, memo] : registry.by_name) {
    if (auto alive = memo.lock()) memos.push_back(std::move(alive));
  }
  return memos;
}

}  // namespace

absl::Status EvictMemo(const std::string& name, AfterEviction after) {
  memo_internal::MemoCore::EndUnneeded();
  memo_internal::Registry& registry = memo_internal::TheRegistry();
  std::shared_ptr<memo_internal::MemoCore> memo;
  {
    MutexLock lock(&memo_internal::memos_mutex);
    const auto it = registry.by_name.find(name);
    if (it != registry.by_name.end()) memo = it->second.lock();
  }
  if (memo != nullptr) return memo->Evict(after);
  return absl::NotFoundError(
      absl::StrCat("there is no ", memo_internal::Quote(name)));
}

std::vector<MemoStatistics> ListLoadedMemos() {
  memo_internal::MemoCore::EndUnneeded();
  std::vector<MemoStatistics> loaded = memo_internal::MemoCore::ListLoaded();
  std::sort(loaded.begin(), loaded.end(),
            [](const MemoStatistics& left, const MemoStatistics& right) {
              return left.name < right.name;
            });
  return loaded;
}

absl::Status ClearMemos(AfterEviction after) {
  std::vector<std::shared_ptr<memo_internal::MemoCore>> memos = AllMemos();
  absl::Status thrown;
  std::vector<std::string> errors;
  // Repeats while it helps, since a value may hold handles to other memos.
  for (bool has_helped = true; has_helped;) {
    std::vector<std::shared_ptr<memo_internal::MemoCore>> in_use;
    for (const auto& memo : memos) {
      const absl::Status status = memo->Evict(AfterEviction::kKeepFreeMemory);
      if (absl::IsFailedPrecondition(status)) {
        in_use.push_back(memo);
      } else if (!status.ok()) {
        // The destructor threw. The memo is empty all the same.
        thrown.Update(status);
        errors.emplace_back(status.message());
      }
    }
    has_helped = in_use.size() < memos.size();
    memos = std::move(in_use);
  }
  if (after == AfterEviction::kPurgeFreeMemory) PurgeFreeMemory();
  if (memos.empty()) {
    return absl::Status(thrown.code(), absl::StrJoin(errors, "; "));
  }
  std::vector<std::string> left;
  for (const auto& memo : memos) left.push_back(memo->name());
  std::sort(left.begin(), left.end());
  errors.insert(errors.begin(),
                absl::StrCat("in use and therefore not cleared: ",
                             absl::StrJoin(left, ", ")));
  return absl::FailedPreconditionError(absl::StrJoin(errors, "; "));
}

MemoTotals ReadMemoTotals() {
  memo_internal::Registry& registry = memo_internal::TheRegistry();
  MutexLock lock(&memo_internal::memos_mutex);
  return registry.totals;
}

}  // namespace footprint

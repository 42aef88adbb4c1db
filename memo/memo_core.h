// Implements the part of a memo that does not depend on its type (see memo.h),
// and lists, evicts and counts the memos of the process.
//
//   const void* value = core->TryAcquire();
//   if (value == nullptr) value = core->AcquireSlowly().value();
//   Use(*static_cast<const Model*>(value));
//   core->Release();
//
// One lock guards the states of all memos and the graph of which thread waits
// for which memo. A thread holds it briefly, for example for the fence of an
// eviction, the text of an error or a list of all memos, and never while a
// factory or a destructor runs or while a thread waits.

#ifndef FOOTPRINT_MEMO_MEMO_CORE_H_
#define FOOTPRINT_MEMO_MEMO_CORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/memo/load_meter.h"
#include "footprint/memo/pinned_pointer.h"

namespace footprint {

// Says whether an eviction returns the allocator's free memory to the system.
// That takes up to 90 ms for 256 MiB in small blocks, so use
// kKeepFreeMemory within a timed region.
enum class AfterEviction { kPurgeFreeMemory, kKeepFreeMemory };

// The source of `MemoStatistics::live_bytes`.
enum class BytesSource {
  // Nothing was measured or declared; the figure is 0.
  kUnknown,
  // The allocator counted them, and nothing puts the count in doubt.
  kMeasured,
  // They were declared; nothing was measured, or the measured bytes are in
  // doubt.
  kDeclared,
  // They were measured and are in doubt, and none were declared. The figure is
  // more likely too large than too small.
  kDoubtful,
};

// The facts that are known about a value before it is loaded.
struct MemoOptions {
  // Bytes that the value is expected to take. They are used if nothing is
  // measured, or if the measured bytes are in doubt. 0: unknown.
  int64_t declared_bytes = 0;
  // Peak bytes that the factory is expected to need, with the value.
  int64_t declared_load_peak_bytes = 0;
  // The file that the value is loaded from. Its size is the guess for a first
  // plan. Empty: the memo's name, if that names a file.
  std::string source_path;
};

struct MemoStatistics {
  std::string name;
  uint64_t load_count = 0;
  uint64_t failed_load_count = 0;
  // Calls of Get() that found a value, or waited for another thread to load it.
  // A Get() that has found no value may be counted until it begins to load.
  uint64_t hit_count = 0;
  uint64_t eviction_count = 0;
  bool is_loaded = false;
  // Handles that hold the value now.
  uint64_t handle_count = 0;
  // Bytes of the value that is loaded now; 0 if no value is loaded, or if the
  // bytes are unknown.
  int64_t live_bytes = 0;
  // Bytes of the largest value so far.
  int64_t peak_bytes = 0;
  // Bytes of the mappings that the factory made for the loaded value and kept.
  int64_t mapped_bytes = 0;
  // The highest peak of a load so far: its heap, including that of the memos
  // that it loaded, plus its own mappings. 0 if nothing was measured.
  int64_t load_peak_bytes = 0;
  // Growth of the resident set during the last load; 0 unless it was counted,
  // see planned_benchmarks.h.
  int64_t resident_bytes = 0;
  BytesSource bytes_source = BytesSource::kUnknown;
  // Why the measured bytes of the last load may be wrong. For example, other
  // threads allocated during the load, or the load took less than was declared,
  // so that part of the value may have existed before. Empty if nothing puts
  // them in doubt.
  std::string doubt;
  // The values that the user declared; 0 or empty for each that was not
  // declared.
  int64_t declared_bytes = 0;
  int64_t declared_load_peak_bytes = 0;
  std::string source_path;
  // True if the last load was measured without doubt and did not have the
  // declared bytes.
  bool declared_bytes_differ = false;
  CrossCheck cross_check = CrossCheck::kNotPossible;
  // Time of all loads together, with the failed ones and with the memos that
  // they loaded. A load whose thread was cancelled adds no time.
  int64_t load_nanoseconds = 0;
};

namespace memo_internal {

// The one lock. Its destructor does nothing, so it outlives every thread.
inline Mutex memos_mutex;

struct Attempt;
struct ThreadRecord;

// Keeps this thread from being cancelled (pthread_cancel) while the object
// lives. A cancellation would leave memo's own work half done, and one in a
// destructor that reads files would end the process. A pending cancellation
// takes effect at the next cancellation point of the user's code.
class NoCancellation {
 public:
  NoCancellation();
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;
  ~NoCancellation();

 private:
  int outer_state_ = 0;
  int outer_users_state_ = 0;
};

// Restores the user's cancellation state within a NoCancellation.
class UsersCancellation {
 public:
  UsersCancellation();
  UsersCancellation(const UsersCancellation&) = delete;
  UsersCancellation& operator=(const UsersCancellation&) = delete;
  ~UsersCancellation();
};

class MemoCore : public std::enable_shared_from_this<MemoCore> {
 public:
  MemoCore(std::string name, std::type_index type, MemoOptions options);
  MemoCore(const MemoCore&) = delete;
  MemoCore& operator=(const MemoCore&) = delete;
  virtual ~MemoCore();

  // Returns the pinned value, or null if it must be loaded first.
  const void* TryAcquire() { return pointer_.TryPin(); }
  // These split TryAcquire and Release as PinnedPointer splits TryPin and
  // Unpin.
  static bool IsQuick() { return PinnedPointer<AsymmetricFence>::IsQuick(); }
  const void* AcquireQuickly() { return pointer_.PinQuickly(); }
  const void* TryAcquireFurther() { return pointer_.TryPinFurther(); }
  void ReleaseQuickly() { pointer_.UnpinQuickly(); }
  // Returns the pinned value. Loads it first, or waits for the thread that
  // loads it.
  absl::StatusOr<const void*> AcquireSlowly();
  void Release() { pointer_.Unpin(); }

  // AddMemo and RemoveMemo count the Memos of this core. When the last one ends
  // while a handle exists, the registry keeps the core until a later call finds
  // that the handle has ended.
  void AddMemo() { memo_count_.fetch_add(1, std::memory_order_relaxed); }
  void RemoveMemo();
  // Returns whether neither a Memo nor a handle needs the core. Whoever still
  // owns it, such as an eviction on another thread, is about to release it.
  bool IsUnneeded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex) {
    return memo_count_.load() == 0 && !pointer_.IsPinned();
  }
  // Releases the kept cores whose handles have ended, and those that have a
  // Memo again. A core that nothing else owns ends.
  static void EndUnneeded();

  // Marks what other threads were loading or evicting as lost. Runs in a child
  // process just after the fork, while the child holds the one lock.
  static void LoseWhatOthersWereDoing()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);

  absl::Status Evict(AfterEviction after);
  MemoStatistics statistics() const;
  // Returns the statistics of all memos that hold a value.
  static std::vector<MemoStatistics> ListLoaded();
  const std::string& name() const { return name_; }
  std::type_index type() const { return type_; }

 protected:
  // Runs the factory; the caller must Destroy the value.
  virtual absl::StatusOr<const void*> Load() = 0;
  virtual void Destroy(const void* value) = 0;
  // Returns whether a value may own memory outside the memo.
  virtual bool MayHoldMemory() const { return true; }
  // Destroys the value for the derived destructor. Ends the process if a handle
  // still exists.
  void DestroyLast();

 private:
  class UnfinishedLoad;
  // kLost: the thread that was loading or evicting was left behind by a fork.
  enum class State { kEmpty, kLoading, kReady, kEvicting, kLost };

  MemoStatistics LockedStatistics() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  absl::StatusOr<const void*> AcquireUnmeasured();
  absl::Status WaitForAttempt(ThreadRecord* thread)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  absl::StatusOr<const void*> RunLoad(ThreadRecord* thread);
  // Enters the value in the registry. Returns false if memory runs out.
  bool RememberValue(const void* value);
  absl::StatusOr<const void*> CallFactory(LoadedBytes* loaded);
  void CountLoad(const absl::StatusOr<const void*>& value,
                 const LoadedBytes& loaded, int64_t nanoseconds)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  const char* FindDoubt(const LoadedBytes& loaded) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  void CountBytes(const LoadedBytes& loaded)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  absl::Status EvictUnmeasured();
  void BeginAttempt(State state, ThreadRecord* thread,
                    const std::shared_ptr<Attempt>& attempt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  void EndAttempt(State state, ThreadRecord* thread, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  std::string FindCycle(const ThreadRecord* me) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);

  PinnedPointer<AsymmetricFence> pointer_;
  std::atomic<int64_t> memo_count_{0};
  const std::string name_;
  const std::type_index type_;

  State state_ ABSL_GUARDED_BY(memos_mutex) = State::kEmpty;
  const void* value_ ABSL_GUARDED_BY(memos_mutex) = nullptr;
  ThreadRecord* owner_ ABSL_GUARDED_BY(memos_mutex) = nullptr;
  std::shared_ptr<Attempt> attempt_ ABSL_GUARDED_BY(memos_mutex);
  uint64_t missed_pin_count_ ABSL_GUARDED_BY(memos_mutex) = 0;
  MemoStatistics statistics_ ABSL_GUARDED_BY(memos_mutex);
};

// Gives `made` its name. Returns InvalidArgument if the name is empty or
// belongs to a memo of another type, AlreadyExists if it belongs to another
// memo, FailedPrecondition if another copy of this library is in use
// (single_copy.h).
absl::Status AddMemo(std::shared_ptr<MemoCore> made);

// Returns the memo of this name. Returns NotFound if no memo has the name,
// InvalidArgument if it has another type.
absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByName(
    const std::string& name, std::type_index type);

// Returns the memo that holds this object. Returns NotFound if none of this
// type holds it now.
absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByValue(const void* value,
                                                          std::type_index type);

}  // namespace memo_internal

// Evicts every value that is not pinned. Returns FailedPrecondition with the
// names of the other memos if values are pinned, being loaded or being evicted,
// or if a fork lost the memo. If destructors of values threw, the message has
// their errors, too. The code is then that of the first one, unless other memos
// remain.
absl::Status ClearMemos(AfterEviction after = AfterEviction::kPurgeFreeMemory);

// Evicts the memo of this name if it holds a value that is not pinned. Returns
// the errors of Memo::Evict, or NotFound if no memo has the name.
absl::Status EvictMemo(const std::string& name,
                       AfterEviction after = AfterEviction::kPurgeFreeMemory);

// Returns the statistics of all memos that hold a value, sorted by name.
std::vector<MemoStatistics> ListLoadedMemos();

struct MemoTotals {
  // Memos that hold a value.
  int64_t loaded_count = 0;
  // Sum of the bytes of their values.
  int64_t live_bytes = 0;
  // The largest sum so far of all values alive at one time.
  int64_t peak_bytes = 0;
};
// Returns the totals of all memos of the process.
MemoTotals ReadMemoTotals();

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_MEMO_CORE_H_

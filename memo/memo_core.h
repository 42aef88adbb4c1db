// The part of a memo that does not depend on its type; see memo.h.
//
//   const void* value = core->TryAcquire();
//   if (value == nullptr) value = core->AcquireSlowly().value();
//   Use(*static_cast<const Model*>(value));
//   core->Release();
//
// One lock guards the states of all memos and the graph of who waits for whom.
// It is held shortly, at most for the fence of an eviction and the text of an
// error: never while a factory or a destructor runs, nor while a thread waits.

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

// Whether an eviction returns the allocator's free memory to the system, which
// takes up to 90 ms for 256 MiB in small blocks: not within a timed region.
enum class AfterEviction { kPurgeFreeMemory, kKeepFreeMemory };

// The source of `MemoStatistics::live_bytes`.
enum class BytesSource {
  kUnknown,
  // Counted by the allocator, and nothing speaks against it.
  kMeasured,
  // Nothing was measured, or what was measured is in doubt.
  kDeclared,
  // Measured, but in doubt, and nothing was declared: rather too much than too
  // little.
  kDoubtful,
};

// Facts that are known of a value before it is loaded.
struct MemoOptions {
  // Bytes that it is expected to take: they stand where none are measured, or
  // the measured ones are in doubt. 0: unknown.
  int64_t declared_bytes = 0;
  // Bytes that its factory is expected to need while it runs, the value
  // included.
  int64_t declared_load_peak_bytes = 0;
  // The file that it comes from, whose size is the guess for a first plan.
  // Empty: the memo's name, where that names a file.
  std::string source_path;
};

struct MemoStatistics {
  std::string name;
  uint64_t load_count = 0;
  uint64_t failed_load_count = 0;
  // Calls of Get() that found a value. A Get() that an eviction interrupts may
  // count twice.
  uint64_t hit_count = 0;
  uint64_t eviction_count = 0;
  bool is_loaded = false;
  // Handles that hold the value now.
  uint64_t handle_count = 0;
  // The bytes of the value that is loaded now; 0 if none is.
  int64_t live_bytes = 0;
  // The largest of its values so far.
  int64_t peak_bytes = 0;
  // Mappings that the factory made of what is loaded, and left.
  int64_t mapped_bytes = 0;
  // Bytes that the largest load needed at one time, with the memos that it
  // loaded; 0 where nothing was measured.
  int64_t load_peak_bytes = 0;
  // Growth of the resident set by the last load; 0 unless it was counted, see
  // planned_benchmarks.h.
  int64_t resident_bytes = 0;
  BytesSource bytes_source = BytesSource::kUnknown;
  // Why a measured figure was not taken for certain: other threads allocated
  // meanwhile, or the load took less than was declared, so that some of the
  // value was there before it. Empty if nothing speaks against it.
  std::string doubt;
  // The user's declarations; 0 and empty if there are none.
  int64_t declared_bytes = 0;
  int64_t declared_load_peak_bytes = 0;
  std::string source_path;
  // A value that was measured without doubt was not of the declared size.
  bool declared_bytes_differ = false;
  CrossCheck cross_check = CrossCheck::kNotPossible;
  // All loads together, with the memos that they loaded.
  int64_t load_nanoseconds = 0;
};

namespace memo_internal {

// The one lock. Its destruction does nothing, so it outlives every thread.
inline Mutex memos_mutex;

struct Attempt;
struct ThreadRecord;

// Keeps this thread from being cancelled (pthread_cancel) while it lives: of
// memo's own work half would be done, and destructors that read files would end
// the process. A cancellation that was asked for acts at the user's next point
// of cancellation.
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

// Restores cancellation, within it, as the user had it.
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

  // The value, pinned, or null if it must be loaded first.
  const void* TryAcquire() { return pointer_.TryPin(); }
  // TryAcquire and Release in the parts of PinnedPointer's TryPin and Unpin.
  static bool IsQuick() { return PinnedPointer<AsymmetricFence>::IsQuick(); }
  const void* AcquireQuickly() { return pointer_.PinQuickly(); }
  const void* TryAcquireFurther() { return pointer_.TryPinFurther(); }
  void ReleaseQuickly() { pointer_.UnpinQuickly(); }
  // Loads it, or waits for whoever does.
  absl::StatusOr<const void*> AcquireSlowly();
  void Release() { pointer_.Unpin(); }

  // A Memo that begins or ends. When the last one ends while a handle is there,
  // the memo is kept until a later call finds that handle gone.
  void AddMemo() { memo_count_.fetch_add(1, std::memory_order_relaxed); }
  void RemoveMemo();
  // Neither a Memo nor a handle needs it: whoever still owns it, such as an
  // eviction on another thread, is about to end it.
  bool IsUnneeded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex) {
    return memo_count_.load() == 0 && !pointer_.IsPinned();
  }
  // Ends what neither a Memo nor a handle needs; for that later call.
  static void EndUnneeded();

  // Called in a child process just after the fork, under the one lock: what
  // other threads were loading or evicting is lost here.
  static void LoseWhatOthersWereDoing()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);

  absl::Status Evict(AfterEviction after);
  MemoStatistics statistics() const;
  // Returns the statistics of all memos that hold a value.
  static std::vector<MemoStatistics> ListLoaded();
  const std::string& name() const { return name_; }
  std::type_index type() const { return type_; }

 protected:
  // Runs the factory; the value is the caller's to Destroy.
  virtual absl::StatusOr<const void*> Load() = 0;
  virtual void Destroy(const void* value) = 0;
  // Returns whether a value may hold memory that is not within the memo.
  virtual bool MayHoldMemory() const { return true; }
  // Fails the process if a handle is still there; for the derived destructor.
  void DestroyLast();

 private:
  class UnfinishedLoad;
  // Lost: a thread that the fork of this process left behind was at it.
  enum class State { kEmpty, kLoading, kReady, kEvicting, kLost };

  MemoStatistics LockedStatistics() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  absl::StatusOr<const void*> AcquireUnmeasured();
  absl::Status WaitForAttempt(ThreadRecord* thread)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(memos_mutex);
  absl::StatusOr<const void*> RunLoad(ThreadRecord* thread);
  // Returns false if there is no memory for that.
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

// `made` has its name from now on. InvalidArgument if that is empty or of a
// memo of another type, AlreadyExists if it is of any other memo.
absl::Status AddMemo(std::shared_ptr<MemoCore> made);

// NotFound if there is none, InvalidArgument if it has another type.
absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByName(
    const std::string& name, std::type_index type);

// NotFound if no memo holds this very object now.
absl::StatusOr<std::shared_ptr<MemoCore>> FindMemoByValue(const void* value,
                                                          std::type_index type);

}  // namespace memo_internal

// Evicts every value that is not pinned. FailedPrecondition, naming those left,
// if some are.
absl::Status ClearMemos(AfterEviction after = AfterEviction::kPurgeFreeMemory);

// Evicts the memo of this name if it holds a value that is not pinned. The
// errors of Memo::Evict; NotFound if there is no such memo.
absl::Status EvictMemo(const std::string& name,
                       AfterEviction after = AfterEviction::kPurgeFreeMemory);

// Returns the statistics of all memos that hold a value, by name.
std::vector<MemoStatistics> ListLoadedMemos();

struct MemoTotals {
  // Memos that hold a value.
  int64_t loaded_count = 0;
  int64_t live_bytes = 0;
  // The largest sum of all values alive together so far.
  int64_t peak_bytes = 0;
};
MemoTotals ReadMemoTotals();

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_MEMO_CORE_H_

// Changes of many threads to one database, several in a transaction: one flush
// to the disk is for all that wait meanwhile.
//
//   GroupCommit database(*std::move(database));
//   absl::Status status = database.Apply(
//       [&](SqliteDatabase* database) { return Insert(database, row); },
//       Durability::kFlush);
//   // if ok, the row outlasts a loss of power
//
// A change that fails is taken back, and those beside it are not. Changes are
// applied in the order of the calls. A change may be called on any thread that
// is in Apply, never two at once, and must not call Apply.
//
// After the disk failed to take a transaction nobody knows how much of it
// arrived: from then on each Apply returns that error, until the database is
// opened again. A full disk is no such failure.
//
// Thread-safe. Owns the database. Memory: what waits.

#ifndef FOOTPRINT_GATES_STORE_GROUP_COMMIT_H_
#define FOOTPRINT_GATES_STORE_GROUP_COMMIT_H_

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/store/sqlite_database.h"

namespace footprint {

enum class Durability {
  kFlush,        // outlasts a loss of power
  kKeepOnCrash,  // outlasts the process
};

class GroupCommit {
 public:
  using Change = std::function<absl::Status(SqliteDatabase*)>;

  explicit GroupCommit(SqliteDatabase database)
      : database_(std::move(database)) {}

  // Returns when the change is in the database, or its error.
  absl::Status Apply(const Change& change, Durability durability)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns whether the disk failed: changes that returned an error may be
  // there all the same once the database is opened again.
  bool HasFailed() const { return has_failed_; }

 private:
  struct Waiting {
    const Change* change;
    Durability durability;
    absl::Status result;
    bool is_done = false;
  };

  // All of them in one transaction.
  void Commit(const std::vector<Waiting*>& batch);
  absl::Status CommitChanges(const std::vector<Waiting*>& batch);
  absl::Status ApplyOne(Waiting* waiting);

  Mutex mutex_;
  CondVar changed_;
  std::vector<Waiting*> waiting_ ABSL_GUARDED_BY(mutex_);
  bool has_leader_ ABSL_GUARDED_BY(mutex_) = false;
  // Only the leader touches these.
  SqliteDatabase database_;
  absl::Status failure_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_GROUP_COMMIT_H_

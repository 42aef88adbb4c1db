// Applies the changes of many threads to one database, several in a
// transaction, so that one flush to the disk serves all waiting threads.
//
//   GroupCommit commits(*std::move(database));
//   absl::Status status = commits.Apply(
//       [&](SqliteDatabase* database) { return Insert(database, row); },
//       Durability::kFlush);
//   // if ok, the row survives a loss of power
//
// A change that fails is rolled back, and the others in its transaction are
// kept. Only if it fails because the disk is full may all of its transaction
// fail. Changes are applied in the order of the calls. A change runs on any of
// the threads that are in Apply, one at a time, and must not call Apply.
//
// After the disk failed to commit a transaction, it is unknown how much of it
// was written. From then on each Apply returns that error, until the database
// is opened again. A full disk is not such a failure.
//
// Thread-safe. Owns the database. Memory: the waiting changes.

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
  kFlush,        // survives a loss of power
  kKeepOnCrash,  // survives a crash of the process
};

class GroupCommit {
 public:
  using Change = std::function<absl::Status(SqliteDatabase*)>;

  explicit GroupCommit(SqliteDatabase database)
      : database_(std::move(database)) {}

  // Applies a change. Returns OK once it is committed, or the error.
  absl::Status Apply(const Change& change, Durability durability)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns whether the disk failed. Then changes that returned an error may
  // still be found when the database is opened again.
  bool HasFailed() const { return has_failed_; }

 private:
  struct Waiting {
    const Change* change;
    Durability durability;
    absl::Status result;
    bool is_done = false;
  };

  // Commits the changes in one transaction.
  void Commit(const std::vector<Waiting*>& batch);
  absl::Status CommitChanges(const std::vector<Waiting*>& batch);
  absl::Status ApplyOne(Waiting* waiting);

  Mutex mutex_;
  CondVar changed_;
  std::vector<Waiting*> waiting_ ABSL_GUARDED_BY(mutex_);
  bool has_leader_ ABSL_GUARDED_BY(mutex_) = false;
  // Only the leader uses these.
  SqliteDatabase database_;
  absl::Status failure_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_GROUP_COMMIT_H_

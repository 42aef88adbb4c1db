#include "footprint/gates/store/group_commit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace footprint {

absl::Status GroupCommit::Apply(const Change& change, Durability durability) {
  Waiting own = {&change, durability, absl::OkStatus()};
  MutexLock lock(&mutex_);
  waiting_.push_back(&own);
  while (!own.is_done) {
    if (has_leader_) {
      changed_.Wait(&mutex_);
      continue;
    }
    // This thread becomes the leader: it commits all waiting changes while
    // others add new ones.
    has_leader_ = true;
    std::vector<Waiting*> batch;
    batch.swap(waiting_);
    {
      MutexUnlock unlock(&mutex_);
      Commit(batch);
    }
    for (Waiting* each : batch) each->is_done = true;
    has_leader_ = false;
    changed_.NotifyAll();
  }
  return own.result;
}

void GroupCommit::Commit(const std::vector<Waiting*>& batch) {
  absl::Status status = failure_;
  if (status.ok()) status = CommitChanges(batch);
  if (status.ok()) return;
  // SQLite may have done so already.
  database_.Execute("ROLLBACK").IgnoreError();
  for (Waiting* each : batch) each->result = status;
}

absl::Status GroupCommit::CommitChanges(const std::vector<Waiting*>& batch) {
  // One change that must survive a loss of power flushes the whole batch.
  const bool flushes =
      std::any_of(batch.begin(), batch.end(), [](const Waiting* each) {
        return each->durability == Durability::kFlush;
      });
  absl::Status status =
      database_.Execute(flushes ? "PRAGMA synchronous=FULL; BEGIN IMMEDIATE"
                                : "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE");
  for (Waiting* each : batch) {
    if (status.ok()) status = ApplyOne(each);
  }
  if (!status.ok()) return status;
  status = database_.Execute("COMMIT");
  if (!status.ok() && !absl::IsResourceExhausted(status)) {
    failure_ = absl::Status(
        status.code(),
        absl::StrCat(status.message(),
                     "; nothing more is kept: see the disk's health and the "
                     "system's log, and start the server again"));
    has_failed_ = true;
  }
  return status;
}

// Applies one change in a savepoint. Returns an error of the transaction; an
// error of the change becomes its result.
absl::Status GroupCommit::ApplyOne(Waiting* waiting) {
  absl::Status status = database_.Execute("SAVEPOINT one");
  if (!status.ok()) return status;
  waiting->result = (*waiting->change)(&database_);
  if (waiting->result.ok()) return database_.Execute("RELEASE one");
  // If the disk is full, SQLite rolls back the whole transaction.
  return database_.Execute("ROLLBACK TO one; RELEASE one").ok()
             ? absl::OkStatus()
             : waiting->result;
}

}  // namespace footprint

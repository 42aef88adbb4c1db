// Stores the submitted bundles, waiting trials and verdicts of the validation
// server durably.
//
//   absl::StatusOr<std::unique_ptr<TrialStore>> store =
//       TrialStore::Open("/var/lib/footprint", {});
//   absl::StatusOr<BundleUpload> upload = (*store)->StartUpload(sha256, size);
//   ...                                        // Append, Finish
//   absl::StatusOr<Submission> submitted = (*store)->Submit(trial);
//   absl::StatusOr<absl::optional<StoredTrial>> claimed = (*store)->Claim();
//   ...                                        // run it
//   status = (*store)->Decide((*claimed)->sequence, outcome);
//
// The folder has the database (trials.sqlite, in WAL mode), the bundles, each
// under its SHA-256, and backups. Changes for which Submit and Decide returned
// OK survive a killed process and a loss of power: a bundle is on the disk
// before the row that names it, and the row before the call returns. A trial
// that was claimed but not decided when the process ended waits again after
// Open. Its `attempt_count` says how often it was claimed, so that the caller
// can give up.
//
// Each `key` has one trial: a second Submit of it returns the first one,
// decided or not. Trials are ordered by sequence numbers, which only rise,
// never by the clock, which may jump; times are for people.
//
// Retention: bundles beyond `most_bundle_bytes` are removed, the oldest first;
// and if there are more than `most_trials` trials, the oldest decided ones.
// Waiting trials and their bundles stay. A bundle that the database does not
// know (because the process was killed between the upload and the submission,
// or an older database was restored) counts as the oldest.
//
// Only one store may use a folder at a time, in this process and others: Open
// refuses a second. It also refuses a database that has even one wrong bit that
// could change an answer, has a newer schema or is not a database, and one that
// is missing or empty although there are bundles. It then changes nothing, and
// says how to restore. For a verdict that is damaged later, Find, Claim and
// Submit return DataLoss.
//
// Thread-safe. The store must outlive its uploads. Memory: two connections of 2
// MiB, and 100 bytes for each waiting trial; results are read one by one. Time:
// a flush to the disk, which the waiting threads share.

#ifndef FOOTPRINT_GATES_STORE_TRIAL_STORE_H_
#define FOOTPRINT_GATES_STORE_TRIAL_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/group_commit.h"
#include "footprint/gates/store/sqlite_database.h"
#include "footprint/gates/store/submitter_limits.h"
#include "footprint/gates/store/unfinished_trials.h"

namespace footprint {

struct TrialStoreOptions {
  int64_t most_bundle_bytes = int64_t{16} << 30;
  int64_t most_trials = 1000000;
  // The most trials without a verdict, whether they wait or run.
  int64_t most_waiting = 1000;
  // The name of SQLite's file layer, for tests (SqliteOptions); null for the
  // system's.
  const char* file_layer = nullptr;
  // A clock for tests; empty for the system's.
  std::function<int64_t()> now_unix_seconds;
};

struct NewTrial {
  // SHA-256 of the verdict's inputs: the bundle, the thresholds, the
  // environment and the judge.
  std::string key;
  std::string bundle_sha256;
  std::string deployment;
  std::string submitter;
  // If this would be one trial too many without a verdict, it is refused.
  SubmitterLimits limits;
  // Called by Submit with the bundle's path, if the bundle is there and this is
  // set. Its error refuses the trial. The bundle is not removed meanwhile.
  std::function<absl::Status(const std::string& bundle_path)> check_bundle;
};

enum class TrialState { kWaiting, kRunning, kDecided };

struct StoredTrial {
  int64_t sequence = 0;
  std::string key;
  std::string bundle_sha256;
  std::string deployment;
  std::string submitter;
  TrialState state = TrialState::kWaiting;
  int64_t submitted_unix_seconds = 0;
  // The number of times that it was claimed and not released.
  int attempt_count = 0;
  // The position of a decided trial among the verdicts, from 1.
  int64_t decided_order = 0;
  int64_t decided_unix_seconds = 0;
  int decision = 0;
  // The result that Decide got. Only Find sets it.
  std::string result;
  // The limits of budget and time that it was submitted with. Only Claim sets
  // them.
  SubmitterLimits limits;
};

struct Submission {
  StoredTrial trial;
  // Whether the trial was not in the store before.
  bool is_new = false;
};

struct TrialOutcome {
  int decision = 0;
  std::string deployment;  // empty: as submitted
  std::string result;
};

struct StoreCounts {
  int64_t waiting = 0;
  int64_t running = 0;
  int64_t decided = 0;
  int64_t bundle_count = 0;
  int64_t bundle_bytes = 0;
};

struct DeploymentCount {
  std::string deployment;
  int64_t trial_count = 0;
  int64_t last_sequence = 0;
};

class TrialStore {
 public:
  // Returns whether a store was made in the folder.
  static bool Exists(const std::string& folder);

  // Opens the store, and makes the folder if it is missing. Returns Unavailable
  // if another server uses it, DataLoss if the database is damaged, and
  // FailedPrecondition if it belongs to another program or has a newer schema;
  // else the errors of SqliteDatabase and FileError.
  static absl::StatusOr<std::unique_ptr<TrialStore>> Open(
      const std::string& folder, const TrialStoreOptions& options);

  // Begins an upload. Returns Unavailable if too many trials wait or run, and
  // ResourceExhausted if the bundle is larger than `most_bundle_bytes`, so that
  // it need not be sent; else BundleFolder's errors.
  absl::StatusOr<BundleUpload> StartUpload(absl::string_view sha256,
                                           int64_t announced_bytes);
  // Returns Submit's Unavailable if too many trials wait or run, or the
  // submitter has `most_undecided` undecided trials or more, so that the bundle
  // need not be sent. 0: no limit.
  absl::Status CheckTurn(const std::string& submitter,
                         int64_t most_undecided) const;
  bool HasBundle(absl::string_view sha256) const;
  std::string PathOfBundle(absl::string_view sha256) const;

  // Adds a trial. If a trial of this key waits already, it may now also run in
  // a turn of this submitter, until the store is opened again. The bundle of a
  // new trial must be in the store: Finish has returned, or it was submitted
  // before. Returns NotFound if it is not and must be sent, Unavailable if too
  // many trials wait or run, of all submitters or of this one, and
  // ResourceExhausted if the bundles of waiting trials fill the store or the
  // disk is full; else the errors of `trial.check_bundle` and SqliteDatabase.
  // After an error, and for a trial that was known, a bundle that the store
  // does not count is removed.
  absl::StatusOr<Submission> Submit(const NewTrial& trial);

  // Returns the next waiting trial, or nullopt if there is none: submitters
  // take turns, and the trials of each are in the order of submission (see
  // unfinished_trials.h). The caller must decide or release it. After an error
  // the trial waits again.
  absl::StatusOr<absl::optional<StoredTrial>> Claim();
  // Stores the verdict, which is durable once this has returned OK. Returns
  // FailedPrecondition if the trial has one already, or there is no such trial.
  // After any other error the trial still runs.
  absl::Status Decide(int64_t sequence, const TrialOutcome& outcome);
  // Makes the trial wait again, as the last of its submitters, as if it had not
  // been claimed. Does nothing if it does not run. Returns ResourceExhausted if
  // the disk is full: then the trial still runs.
  absl::Status Release(int64_t sequence);

  // Returns the trial of a key, or NotFound; DataLoss if it is damaged.
  absl::StatusOr<StoredTrial> Find(absl::string_view key) const;
  // Returns the first trial that was decided after the verdict of this order,
  // without its result; nullopt if there is none.
  absl::StatusOr<absl::optional<StoredTrial>> FindDecidedAfter(
      int64_t decided_order) const;
  // Returns the order of the last verdict; 0 if there was none yet.
  absl::StatusOr<int64_t> LastDecidedOrder() const;
  // Returns trials without their results, the newest first, with sequence
  // numbers below `before_sequence` (0: all). An empty `deployment` stands for
  // all.
  absl::StatusOr<std::vector<StoredTrial>> History(absl::string_view deployment,
                                                   int64_t before_sequence,
                                                   int64_t most) const;
  // Returns the deployments, that of the last submission first.
  absl::StatusOr<std::vector<DeploymentCount>> Deployments(int64_t most) const;
  absl::StatusOr<StoreCounts> Counts() const;
  // Returns whether the disk failed to write a change. Then nothing more is
  // stored until the store is opened again. A full disk is not such a failure.
  bool HasFailed() const { return database_.HasFailed(); }

  // Copies database and bundles as of one moment into a new folder, which Open
  // can open. Returns AlreadyExists if the path exists. After another error the
  // folder stays, and is not complete.
  absl::Status BackUp(const std::string& folder);

 private:
  TrialStore(const std::string& folder, const TrialStoreOptions& options,
             FileLock lock, SqliteDatabase writer, SqliteDatabase reader,
             BundleFolder bundles)
      : folder_(folder),
        options_(options),
        lock_(std::move(lock)),
        database_(std::move(writer)),
        reader_(std::move(reader)),
        bundles_(std::move(bundles)) {}

  // While it lives, its bundle is not removed.
  class Pin;
  using Digests = std::vector<std::string>;

  int64_t Now() const;
  absl::Status Recover();
  // Adds rows for bundles without a row, as the oldest bundles. So these make
  // room first, and no bundle is deleted without a row.
  absl::Status Adopt(const Digests& unknown);
  absl::StatusOr<Submission> SubmitPinned(const NewTrial& trial);
  absl::Status Insert(SqliteDatabase* database, const NewTrial& trial,
                      int64_t bundle_bytes, Digests* removed) const;
  // Deletes rows of bundles whose trials are decided, until the rest fits.
  absl::Status MakeRoom(SqliteDatabase* database, Digests* removed) const;
  absl::Status DropOldTrials(SqliteDatabase* database) const;
  // Removes the files of bundles without a row.
  void RemoveBundles(const Digests& removed);
  bool HasRow(const std::string& sha256) const;
  StoredTrial WithState(StoredTrial trial) const;
  absl::Status CopyBundles(const std::string& folder);

  const std::string folder_;
  const TrialStoreOptions options_;
  const FileLock lock_;
  GroupCommit database_;
  mutable Mutex reader_mutex_;
  mutable SqliteDatabase reader_ ABSL_GUARDED_BY(reader_mutex_);
  const BundleFolder bundles_;

  mutable Mutex mutex_;
  UnfinishedTrials unfinished_ ABSL_GUARDED_BY(mutex_);
  // Number of pins of each bundle, which may have no row.
  std::map<std::string, int> pins_ ABSL_GUARDED_BY(mutex_);
  // Number of backups that copy bundles now; until they end, no bundle is
  // removed.
  int backup_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Digests removed_later_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_TRIAL_STORE_H_

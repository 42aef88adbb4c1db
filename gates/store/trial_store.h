// The durable memory of the validation server: submitted bundles, trials that
// wait, and verdicts.
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
// A folder has the database (trials.sqlite, in WAL mode), the bundles, each
// under its SHA-256, and backups. Changes for which Submit and Decide returned
// OK outlast a killed process and a loss of power: a bundle is on the disk
// before the row that names it, and the row before the call returns. A trial
// that was claimed and not decided when the process ended waits again after
// Open; its `attempt_count` says how often it was, so that whoever claims it
// can give up.
//
// One trial a `key`: a second Submit of it gives the first one, decided or not.
// Order is by sequence numbers, which only rise, never by the clock, which may
// jump; times are for people.
//
// Retention: bundles beyond `most_bundle_bytes` are removed, the oldest first,
// and decided trials beyond `most_trials`; trials that wait stay. A bundle that
// the database does not know (its process was killed between the upload and the
// submission, or an older database was put beside it) counts as the oldest.
//
// One store a folder at a time, in this process and others: Open refuses the
// second. It refuses a database that is damaged by so much as a bit, of a newer
// schema or no database, and one that is missing or empty where bundles are; it
// leaves all as it is, and says how to restore. A verdict that is damaged later
// is DataLoss from Find, Claim and Submit.
//
// Thread-safe. The store outlives its uploads. Memory: two connections of 2 MiB
// and 8 bytes for each trial that waits; results are read one by one. Time: a
// flush to the disk, shared by the threads that wait for one.

#ifndef FOOTPRINT_GATES_STORE_TRIAL_STORE_H_
#define FOOTPRINT_GATES_STORE_TRIAL_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
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

namespace footprint {

struct TrialStoreOptions {
  int64_t most_bundle_bytes = int64_t{16} << 30;
  int64_t most_trials = 1000000;
  int64_t most_waiting = 1000;
  // The name of SQLite's file layer, for tests (SqliteOptions); null for the
  // system's.
  const char* file_layer = nullptr;
  // The clock, for tests.
  std::function<int64_t()> now_unix_seconds;
};

struct NewTrial {
  // SHA-256 of the verdict's inputs: the bundle, the thresholds, the
  // environment and the judge.
  std::string key;
  std::string bundle_sha256;
  std::string deployment;
  std::string submitter;
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
  // How often it was claimed.
  int attempt_count = 0;
  // The place of a decided trial among the verdicts, from 1.
  int64_t decided_order = 0;
  int64_t decided_unix_seconds = 0;
  int decision = 0;
  // Only of Find and Claim: as Decide was given it.
  std::string result;
};

struct Submission {
  StoredTrial trial;
  // The bundle was not in the store before.
  bool is_new = false;
};

struct TrialOutcome {
  int decision = 0;
  std::string deployment;  // empty: as it was submitted
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
  // Makes the folder if it is missing. Unavailable: another server has it.
  // DataLoss: the database is damaged. FailedPrecondition: of another program
  // or of a newer schema. Else those of SqliteDatabase and FileError.
  static absl::StatusOr<std::unique_ptr<TrialStore>> Open(
      const std::string& folder, const TrialStoreOptions& options);

  // BundleFolder's; Unavailable: too many wait, so the bundle need not be sent.
  absl::StatusOr<BundleUpload> StartUpload(absl::string_view sha256,
                                           int64_t announced_bytes);
  bool HasBundle(absl::string_view sha256) const;
  std::string PathOfBundle(absl::string_view sha256) const;

  // The bundle is there: Finish returned, or it was submitted before. NotFound:
  // it is not, send it. Unavailable: too many wait. ResourceExhausted: the
  // bundles that wait fill the store, or the disk is full.
  absl::StatusOr<Submission> Submit(const NewTrial& trial);

  // The next trial that waits, in the order of submission; nullopt if none.
  // Whoever claims it decides it or releases it.
  absl::StatusOr<absl::optional<StoredTrial>> Claim();
  // Keeps the verdict: once it returned OK, the verdict stays.
  // FailedPrecondition: it is decided.
  absl::Status Decide(int64_t sequence, const TrialOutcome& outcome);
  // Waits again, as the last.
  void Release(int64_t sequence);

  // NotFound.
  absl::StatusOr<StoredTrial> Find(absl::string_view key) const;
  // The newest first, from below `before_sequence` on (0: all). An empty
  // `deployment` stands for all.
  absl::StatusOr<std::vector<StoredTrial>> History(absl::string_view deployment,
                                                   int64_t before_sequence,
                                                   int64_t most) const;
  // The one that was submitted last, first.
  absl::StatusOr<std::vector<DeploymentCount>> Deployments(int64_t most) const;
  absl::StatusOr<StoreCounts> Counts() const;
  // The disk failed to take a change: nothing more is kept until the store is
  // opened again. A full disk is no such failure.
  bool HasFailed() const { return database_.HasFailed(); }

  // Copies database and bundles of one moment into a new folder, which Open can
  // open. AlreadyExists: there is such a path.
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

  // Keeps a bundle from being removed while it lives.
  class Pin;
  using Digests = std::vector<std::string>;

  int64_t Now() const;
  absl::Status Recover();
  // Rows for bundles that have none, as the oldest ones: they make room first,
  // and nothing that the database does not know is deleted before.
  absl::Status Adopt(const Digests& unknown);
  absl::StatusOr<Submission> SubmitPinned(const NewTrial& trial);
  absl::Status Insert(SqliteDatabase* database, const NewTrial& trial,
                      int64_t bundle_bytes, Digests* removed) const;
  // Rows of bundles whose trials are decided, until the others have room.
  absl::Status MakeRoom(SqliteDatabase* database, Digests* removed) const;
  absl::Status DropOldTrials(SqliteDatabase* database) const;
  // Files of bundles without a row.
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
  std::deque<int64_t> waiting_ ABSL_GUARDED_BY(mutex_);
  std::set<int64_t> running_ ABSL_GUARDED_BY(mutex_);
  // Returns how many need a bundle that may have no row.
  std::map<std::string, int> pins_ ABSL_GUARDED_BY(mutex_);
  // While a backup copies them, bundles are removed later.
  int backup_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Digests removed_later_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_TRIAL_STORE_H_

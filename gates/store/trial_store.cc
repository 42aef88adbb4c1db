#include "footprint/gates/store/trial_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/gates/store/trial_database.h"

namespace footprint {
namespace {

constexpr char kDatabaseName[] = "/trials.sqlite";
constexpr char kBundlesName[] = "/bundles";

constexpr char kColumns[] =
    "sequence, key, bundle_sha256, deployment, submitter, "
    "submitted_unix_seconds, attempt_count, decided_order, "
    "decided_unix_seconds, decision";

StoredTrial ReadTrial(const SqliteStatement& row) {
  StoredTrial trial;
  trial.sequence = row.Int(0);
  trial.key = row.Text(1);
  trial.bundle_sha256 = row.Text(2);
  trial.deployment = row.Text(3);
  trial.submitter = row.Text(4);
  trial.submitted_unix_seconds = row.Int(5);
  trial.attempt_count = static_cast<int>(row.Int(6));
  if (!row.IsNull(7)) trial.state = TrialState::kDecided;
  trial.decided_order = row.Int(7);
  trial.decided_unix_seconds = row.Int(8);
  trial.decision = static_cast<int>(row.Int(9));
  return trial;
}

absl::StatusOr<absl::optional<StoredTrial>> OneTrial(
    absl::StatusOr<SqliteStatement> statement) {
  if (!statement.ok()) return statement.status();
  const absl::StatusOr<bool> has_row = statement->Step();
  if (!has_row.ok()) return has_row.status();
  if (!*has_row) return absl::optional<StoredTrial>();
  return absl::optional<StoredTrial>(ReadTrial(*statement));
}

absl::StatusOr<absl::optional<StoredTrial>> TrialOfKey(SqliteDatabase* database,
                                                       absl::string_view key) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(
      absl::StrCat("SELECT ", kColumns, " FROM trial WHERE key = ?"));
  if (select.ok()) select->BindText(1, key);
  return OneTrial(std::move(select));
}

absl::StatusOr<absl::optional<StoredTrial>> TrialOfSequence(
    SqliteDatabase* database, int64_t sequence) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(
      absl::StrCat("SELECT ", kColumns, " FROM trial WHERE sequence = ?"));
  if (select.ok()) select->BindInt(1, sequence);
  return OneTrial(std::move(select));
}

absl::StatusOr<int64_t> NumberIn(SqliteDatabase* database,
                                 absl::string_view query) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(query);
  if (!select.ok()) return select.status();
  const absl::StatusOr<bool> has_row = select->Step();
  if (!has_row.ok()) return has_row.status();
  return *has_row ? select->Int(0) : 0;
}

absl::Status RunOn(SqliteDatabase* database, absl::string_view text,
                   absl::string_view name) {
  absl::StatusOr<SqliteStatement> statement = database->Prepare(text);
  if (!statement.ok()) return statement.status();
  return statement->BindText(1, name).Run();
}

absl::Status QueueIsFull(int64_t waiting_count) {
  return absl::UnavailableError(absl::StrCat(
      "the queue is full: ", waiting_count, " trials wait; try again later"));
}

// Adds the limits of the trial that was inserted last. Its sequence number
// stays the last row's.
absl::Status InsertLimits(SqliteDatabase* database,
                          const SubmitterLimits& limits) {
  if (limits.most_budget_bytes == 0 && limits.most_seconds == 0) {
    return absl::OkStatus();
  }
  absl::StatusOr<SqliteStatement> insert = database->Prepare(
      "INSERT INTO trial_limit VALUES(last_insert_rowid(), ?, ?)");
  if (!insert.ok()) return insert.status();
  return insert->BindInt(1, limits.most_budget_bytes)
      .BindInt(2, limits.most_seconds)
      .Run();
}

absl::Status ReadLimits(SqliteDatabase* database, StoredTrial* trial) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(
      "SELECT most_budget_bytes, most_seconds FROM trial_limit "
      "WHERE sequence = ?");
  if (!select.ok()) return select.status();
  const absl::StatusOr<bool> has_row =
      select->BindInt(1, trial->sequence).Step();
  if (!has_row.ok()) return has_row.status();
  if (!*has_row) return absl::OkStatus();
  trial->limits.most_budget_bytes = select->Int(0);
  trial->limits.most_seconds = select->Int(1);
  return absl::OkStatus();
}

absl::Status TooManyOfSubmitter(absl::string_view submitter, int64_t most) {
  return absl::UnavailableError(
      absl::StrCat("the token '", submitter,
                   "' has as many trials without a verdict as it may have (",
                   most, "); try again when one is decided"));
}

// Flushes the names in a folder; the files are flushed separately.
absl::Status FlushFolder(const std::string& path) {
  const FileDescriptor folder(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && fsync(folder.get()) == 0) return absl::OkStatus();
  return FileError(errno, path, "cannot be flushed");
}

}  // namespace

class TrialStore::Pin {
 public:
  Pin(TrialStore* store, const std::string& sha256)
      : store_(store), sha256_(sha256) {
    MutexLock lock(&store_->mutex_);
    ++store_->pins_[sha256_];
  }
  ~Pin() {
    MutexLock lock(&store_->mutex_);
    if (--store_->pins_[sha256_] == 0) store_->pins_.erase(sha256_);
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  TrialStore* const store_;
  const std::string sha256_;
};

bool TrialStore::Exists(const std::string& folder) {
  return access((folder + kDatabaseName).c_str(), F_OK) == 0;
}

absl::StatusOr<std::unique_ptr<TrialStore>> TrialStore::Open(
    const std::string& folder, const TrialStoreOptions& options) {
  absl::Status status = MakeFolder(folder);
  if (!status.ok()) return status;
  absl::StatusOr<FileLock> lock = FileLock::TryAcquire(folder);
  if (absl::IsUnavailable(lock.status())) {
    return absl::UnavailableError(absl::StrCat(
        folder,
        ": another server uses this store; stop it, or name another "
        "folder"));
  }
  if (!lock.ok()) return lock.status();
  absl::StatusOr<BundleFolder> bundles =
      BundleFolder::Open(folder + kBundlesName);
  if (!bundles.ok()) return bundles.status();
  const absl::StatusOr<bool> has_bundles = bundles->HasAny();
  if (!has_bundles.ok()) return has_bundles.status();
  SqliteOptions access;
  access.file_layer = options.file_layer;
  // A store with bundles must have a database: a new one would not know them.
  absl::StatusOr<SqliteDatabase> writer = OpenTrialDatabase(
      folder + kDatabaseName, access,
      *has_bundles ? NewDatabase::kRefuse : NewDatabase::kMake);
  if (!writer.ok()) return writer.status();
  // Reads use a second connection, so that they do not wait for writers.
  absl::StatusOr<SqliteDatabase> reader =
      SqliteDatabase::Open(folder + kDatabaseName, access);
  if (!reader.ok()) return reader.status();
  status = FlushFolder(folder);
  if (!status.ok()) return status;
  auto store = absl::WrapUnique(
      new TrialStore(folder, options, *std::move(lock), *std::move(writer),
                     *std::move(reader), *std::move(bundles)));
  status = store->Recover();
  if (!status.ok()) return status;
  return store;
}

absl::Status TrialStore::Recover() {
  {
    MutexLock lock(&mutex_);
    MutexLock reader_lock(&reader_mutex_);
    absl::StatusOr<SqliteStatement> select = reader_.Prepare(
        "SELECT sequence, submitter FROM trial WHERE decided_order IS NULL "
        "ORDER BY sequence");
    if (!select.ok()) return select.status();
    while (true) {
      const absl::StatusOr<bool> has_row = select->Step();
      if (!has_row.ok()) return has_row.status();
      if (!*has_row) break;
      unfinished_.Add(select->Int(0), select->Text(1));
    }
  }
  Digests unknown;
  const absl::Status swept = bundles_.Sweep([&](absl::string_view sha256) {
    if (!HasRow(std::string(sha256))) unknown.emplace_back(sha256);
    return true;
  });
  return swept.ok() ? Adopt(unknown) : swept;
}

absl::Status TrialStore::Adopt(const Digests& unknown) {
  if (unknown.empty()) return absl::OkStatus();
  return database_.Apply(
      [&](SqliteDatabase* database) -> absl::Status {
        for (const std::string& sha256 : unknown) {
          const absl::StatusOr<int64_t> bytes = bundles_.FindSize(sha256);
          if (!bytes.ok()) continue;  // it is not a file
          absl::StatusOr<SqliteStatement> insert =
              database->Prepare("INSERT INTO bundle VALUES(?, ?, 0)");
          if (!insert.ok()) return insert.status();
          const absl::Status inserted =
              insert->BindText(1, sha256).BindInt(2, *bytes).Run();
          if (!inserted.ok()) return inserted;
        }
        return absl::OkStatus();
      },
      Durability::kKeepOnCrash);
}

int64_t TrialStore::Now() const {
  return options_.now_unix_seconds ? options_.now_unix_seconds()
                                   : static_cast<int64_t>(std::time(nullptr));
}

absl::StatusOr<BundleUpload> TrialStore::StartUpload(absl::string_view sha256,
                                                     int64_t announced_bytes) {
  // The client learns the reason before it sends the bundle.
  const absl::Status turn = CheckTurn("", 0);
  if (!turn.ok()) return turn;
  if (announced_bytes > options_.most_bundle_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a bundle of ", announced_bytes,
                     " bytes is more than the whole store may hold (",
                     options_.most_bundle_bytes, ")"));
  }
  return bundles_.StartUpload(sha256, announced_bytes);
}

bool TrialStore::HasBundle(absl::string_view sha256) const {
  return bundles_.FindSize(sha256).ok();
}

std::string TrialStore::PathOfBundle(absl::string_view sha256) const {
  return bundles_.MakePath(sha256);
}

absl::Status TrialStore::CheckTurn(const std::string& submitter,
                                   int64_t most_undecided) const {
  MutexLock lock(&mutex_);
  const int64_t unfinished =
      unfinished_.WaitingCount() + unfinished_.RunningCount();
  if (unfinished >= options_.most_waiting) return QueueIsFull(unfinished);
  if (most_undecided == 0 || unfinished_.CountOf(submitter) < most_undecided) {
    return absl::OkStatus();
  }
  return TooManyOfSubmitter(submitter, most_undecided);
}

absl::StatusOr<Submission> TrialStore::Submit(const NewTrial& trial) {
  absl::StatusOr<Submission> submission;
  {
    const Pin pin(this, trial.bundle_sha256);
    absl::Status status;
    if (trial.check_bundle && HasBundle(trial.bundle_sha256)) {
      status = trial.check_bundle(PathOfBundle(trial.bundle_sha256));
    }
    submission =
        status.ok() ? SubmitPinned(trial) : absl::StatusOr<Submission>(status);
  }
  // The bundle of a known trial may have been evicted and sent again. After a
  // failure of the disk the row may still have been written.
  const bool is_needed = submission.ok() && submission->is_new;
  if (!is_needed && !database_.HasFailed()) {
    RemoveBundles({trial.bundle_sha256});
  }
  return submission;
}

absl::StatusOr<Submission> TrialStore::SubmitPinned(const NewTrial& trial) {
  const absl::StatusOr<int64_t> bundle_bytes =
      bundles_.FindSize(trial.bundle_sha256);
  Submission submission;
  Digests removed;
  const absl::Status status = database_.Apply(
      [&](SqliteDatabase* database) -> absl::Status {
        absl::StatusOr<absl::optional<StoredTrial>> found =
            TrialOfKey(database, trial.key);
        if (!found.ok()) return found.status();
        if (!found->has_value()) {
          if (!bundle_bytes.ok()) return bundle_bytes.status();
          const absl::Status inserted =
              Insert(database, trial, *bundle_bytes, &removed);
          if (!inserted.ok()) return inserted;
          submission.is_new = true;
          found = TrialOfKey(database, trial.key);
          if (!found.ok()) return found.status();
        }
        submission.trial = **found;
        return submission.is_new
                   ? SealTrial(database, submission.trial.sequence)
                   : CheckSeal(database, submission.trial.sequence);
      },
      Durability::kFlush);
  if (!status.ok()) return status;
  RemoveBundles(removed);
  MutexLock lock(&mutex_);
  if (submission.is_new) {
    unfinished_.Add(submission.trial.sequence, trial.submitter);
  } else {
    unfinished_.Join(submission.trial.sequence, trial.submitter);
  }
  if (unfinished_.IsRunning(submission.trial.sequence)) {
    submission.trial.state = TrialState::kRunning;
  }
  return submission;
}

absl::Status TrialStore::Insert(SqliteDatabase* database, const NewTrial& trial,
                                int64_t bundle_bytes, Digests* removed) const {
  // Refuses the trial if too many wait, or too many of its submitter.
  const absl::StatusOr<int64_t> waiting =
      NumberIn(database, "SELECT trial_count - decided_count FROM total");
  if (!waiting.ok()) return waiting.status();
  if (*waiting >= options_.most_waiting) {
    return QueueIsFull(*waiting);
  }
  if (trial.limits.most_undecided > 0) {
    absl::StatusOr<SqliteStatement> count = database->Prepare(
        "SELECT count(*) FROM trial WHERE decided_order IS NULL AND "
        "submitter = ?");
    if (!count.ok()) return count.status();
    const absl::StatusOr<bool> has_row =
        count->BindText(1, trial.submitter).Step();
    if (!has_row.ok()) return has_row.status();
    if (count->Int(0) >= trial.limits.most_undecided) {
      return TooManyOfSubmitter(trial.submitter, trial.limits.most_undecided);
    }
  }
  // Inserts the trial.
  absl::StatusOr<SqliteStatement> insert = database->Prepare(
      "INSERT INTO trial(key, bundle_sha256, deployment, submitter, "
      "submitted_unix_seconds) VALUES(?, ?, ?, ?, ?)");
  if (!insert.ok()) return insert.status();
  absl::Status status = insert->BindText(1, trial.key)
                            .BindText(2, trial.bundle_sha256)
                            .BindText(3, trial.deployment)
                            .BindText(4, trial.submitter)
                            .BindInt(5, Now())
                            .Run();
  if (!status.ok()) return status;
  status = InsertLimits(database, trial.limits);
  if (!status.ok()) return status;
  // Inserts the bundle, or notes that a stored one was submitted again.
  absl::StatusOr<SqliteStatement> bundle = database->Prepare(
      "INSERT INTO bundle VALUES(?, ?, last_insert_rowid()) "
      "ON CONFLICT(sha256) DO UPDATE SET last_sequence = "
      "excluded.last_sequence");
  if (!bundle.ok()) return bundle.status();
  status =
      bundle->BindText(1, trial.bundle_sha256).BindInt(2, bundle_bytes).Run();
  if (!status.ok()) return status;
  return MakeRoom(database, removed);
}

absl::Status TrialStore::MakeRoom(SqliteDatabase* database,
                                  Digests* removed) const {
  while (true) {
    const absl::StatusOr<int64_t> bytes =
        NumberIn(database, "SELECT bundle_bytes FROM total");
    if (!bytes.ok()) return bytes.status();
    if (*bytes <= options_.most_bundle_bytes) return absl::OkStatus();
    const absl::StatusOr<std::string> oldest = database->Ask(
        "SELECT sha256 FROM bundle WHERE NOT EXISTS(SELECT 1 FROM trial WHERE "
        "bundle_sha256 = sha256 AND decided_order IS NULL) "
        "ORDER BY last_sequence LIMIT 1");
    if (!oldest.ok()) return oldest.status();
    if (oldest->empty()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the store is full of bundles that wait: ", *bytes, " bytes of ",
          options_.most_bundle_bytes, "; try again later"));
    }
    const absl::Status deleted =
        RunOn(database, "DELETE FROM bundle WHERE sha256 = ?", *oldest);
    if (!deleted.ok()) return deleted;
    removed->push_back(*oldest);
  }
}

// A claim need not survive a loss of power: the trial waits again after it.
absl::StatusOr<absl::optional<StoredTrial>> TrialStore::Claim() {
  int64_t sequence = 0;
  {
    MutexLock lock(&mutex_);
    const absl::optional<int64_t> next = unfinished_.Claim();
    if (!next.has_value()) return absl::optional<StoredTrial>();
    sequence = *next;
  }
  absl::optional<StoredTrial> claimed;
  const absl::Status status = database_.Apply(
      [&](SqliteDatabase* database) -> absl::Status {
        const absl::Status sealed = CheckSeal(database, sequence);
        if (!sealed.ok()) return sealed;
        absl::StatusOr<SqliteStatement> update = database->Prepare(
            "UPDATE trial SET attempt_count = attempt_count + 1 "
            "WHERE sequence = ?");
        if (!update.ok()) return update.status();
        const absl::Status updated = update->BindInt(1, sequence).Run();
        if (!updated.ok()) return updated;
        absl::StatusOr<absl::optional<StoredTrial>> found =
            TrialOfSequence(database, sequence);
        if (!found.ok()) return found.status();
        claimed = *std::move(found);
        if (claimed.has_value()) {
          const absl::Status read = ReadLimits(database, &*claimed);
          if (!read.ok()) return read;
        }
        return SealTrial(database, sequence);
      },
      Durability::kKeepOnCrash);
  if (!status.ok()) {
    MutexLock lock(&mutex_);
    unfinished_.Release(sequence);
    return status;
  }
  if (claimed.has_value()) claimed->state = TrialState::kRunning;
  return claimed;
}

absl::Status TrialStore::Decide(int64_t sequence, const TrialOutcome& outcome) {
  const absl::Status status = database_.Apply(
      [&](SqliteDatabase* database) -> absl::Status {
        const absl::StatusOr<absl::optional<StoredTrial>> found =
            TrialOfSequence(database, sequence);
        if (!found.ok()) return found.status();
        if (!found->has_value() || (*found)->state == TrialState::kDecided) {
          return absl::FailedPreconditionError(
              absl::StrCat("trial ", sequence, " does not wait for a verdict"));
        }
        absl::StatusOr<SqliteStatement> update = database->Prepare(
            "UPDATE trial SET decided_order = (SELECT last_decided_order + 1 "
            "FROM total), decided_unix_seconds = ?, decision = ?, deployment = "
            "? WHERE sequence = ?");
        if (!update.ok()) return update.status();
        absl::Status written =
            update->BindInt(1, Now())
                .BindInt(2, outcome.decision)
                .BindText(3, outcome.deployment.empty() ? (*found)->deployment
                                                        : outcome.deployment)
                .BindInt(4, sequence)
                .Run();
        if (!written.ok()) return written;
        absl::StatusOr<SqliteStatement> insert =
            database->Prepare("INSERT INTO result VALUES(?, ?)");
        if (!insert.ok()) return insert.status();
        written =
            insert->BindInt(1, sequence).BindBytes(2, outcome.result).Run();
        if (written.ok()) written = SealTrial(database, sequence);
        if (!written.ok()) return written;
        return DropOldTrials(database);
      },
      Durability::kFlush);
  if (!status.ok()) return status;
  MutexLock lock(&mutex_);
  unfinished_.Finish(sequence);
  return absl::OkStatus();
}

absl::Status TrialStore::DropOldTrials(SqliteDatabase* database) const {
  const absl::StatusOr<int64_t> surplus =
      NumberIn(database, absl::StrCat("SELECT trial_count - ",
                                      options_.most_trials, " FROM total"));
  if (!surplus.ok()) return surplus.status();
  if (*surplus <= 0) return absl::OkStatus();
  // The trial that was just decided stays.
  return database->Execute(absl::StrCat(
      "DELETE FROM trial WHERE sequence IN (SELECT sequence FROM trial WHERE "
      "decided_order < (SELECT last_decided_order FROM total) "
      "ORDER BY decided_order LIMIT ",
      *surplus, ")"));
}

absl::Status TrialStore::Release(int64_t sequence) {
  {
    MutexLock lock(&mutex_);
    if (!unfinished_.IsRunning(sequence)) return absl::OkStatus();
  }
  const absl::Status uncounted = database_.Apply(
      [&](SqliteDatabase* database) -> absl::Status {
        const absl::Status sealed = CheckSeal(database, sequence);
        if (!sealed.ok()) return sealed;
        absl::StatusOr<SqliteStatement> update = database->Prepare(
            "UPDATE trial SET attempt_count = attempt_count - 1 "
            "WHERE sequence = ? AND attempt_count > 0");
        if (!update.ok()) return update.status();
        const absl::Status updated = update->BindInt(1, sequence).Run();
        return updated.ok() ? SealTrial(database, sequence) : updated;
      },
      Durability::kKeepOnCrash);
  if (absl::IsResourceExhausted(uncounted)) return uncounted;
  // Claim names any other error.
  MutexLock lock(&mutex_);
  unfinished_.Release(sequence);
  return absl::OkStatus();
}

bool TrialStore::HasRow(const std::string& sha256) const {
  MutexLock lock(&reader_mutex_);
  absl::StatusOr<SqliteStatement> select =
      reader_.Prepare("SELECT 1 FROM bundle WHERE sha256 = ?");
  if (!select.ok()) return true;  // unknown, so keep it
  const absl::StatusOr<bool> has_row = select->BindText(1, sha256).Step();
  return !has_row.ok() || *has_row;
}

void TrialStore::RemoveBundles(const Digests& removed) {
  for (const std::string& sha256 : removed) {
    MutexLock lock(&mutex_);
    if (backup_count_ > 0) {
      removed_later_.push_back(sha256);
      continue;
    }
    // A pinned bundle is about to get a row again.
    if (pins_.count(sha256) > 0 || HasRow(sha256)) continue;
    bundles_.Remove(sha256).IgnoreError();
  }
}

StoredTrial TrialStore::WithState(StoredTrial trial) const {
  MutexLock lock(&mutex_);
  if (trial.state != TrialState::kDecided &&
      unfinished_.IsRunning(trial.sequence)) {
    trial.state = TrialState::kRunning;
  }
  return trial;
}

absl::StatusOr<StoredTrial> TrialStore::Find(absl::string_view key) const {
  absl::optional<StoredTrial> found;
  {
    MutexLock lock(&reader_mutex_);
    absl::StatusOr<absl::optional<StoredTrial>> read =
        TrialOfKey(&reader_, key);
    if (!read.ok()) return read.status();
    found = *std::move(read);
    if (!found.has_value()) {
      return absl::NotFoundError(absl::StrCat("no trial ", key));
    }
    const absl::Status sealed = CheckSeal(&reader_, found->sequence);
    if (!sealed.ok()) return sealed;
    absl::StatusOr<SqliteStatement> select =
        reader_.Prepare("SELECT bytes FROM result WHERE sequence = ?");
    if (!select.ok()) return select.status();
    const absl::StatusOr<bool> has_row =
        select->BindInt(1, found->sequence).Step();
    if (!has_row.ok()) return has_row.status();
    if (*has_row) found->result = select->Text(0);
  }
  return WithState(*std::move(found));
}

absl::StatusOr<absl::optional<StoredTrial>> TrialStore::FindDecidedAfter(
    int64_t decided_order) const {
  MutexLock lock(&reader_mutex_);
  absl::StatusOr<SqliteStatement> select =
      reader_.Prepare(absl::StrCat("SELECT ", kColumns,
                                   " FROM trial WHERE decided_order > ? "
                                   "ORDER BY decided_order LIMIT 1"));
  if (select.ok()) select->BindInt(1, decided_order);
  return OneTrial(std::move(select));
}

absl::StatusOr<int64_t> TrialStore::LastDecidedOrder() const {
  MutexLock lock(&reader_mutex_);
  return NumberIn(&reader_, "SELECT last_decided_order FROM total");
}

absl::StatusOr<std::vector<StoredTrial>> TrialStore::History(
    absl::string_view deployment, int64_t before_sequence, int64_t most) const {
  std::vector<StoredTrial> trials;
  {
    MutexLock lock(&reader_mutex_);
    absl::StatusOr<SqliteStatement> select = reader_.Prepare(absl::StrCat(
        "SELECT ", kColumns, " FROM trial WHERE ",
        deployment.empty() ? "?1 = ''" : "deployment = ?1",
        " AND (?2 = 0 OR sequence < ?2) ORDER BY sequence DESC LIMIT ?3"));
    if (!select.ok()) return select.status();
    select->BindText(1, deployment)
        .BindInt(2, before_sequence)
        .BindInt(3, most);
    while (true) {
      const absl::StatusOr<bool> has_row = select->Step();
      if (!has_row.ok()) return has_row.status();
      if (!*has_row) break;
      trials.push_back(ReadTrial(*select));
    }
  }
  for (StoredTrial& trial : trials) trial = WithState(std::move(trial));
  return trials;
}

absl::StatusOr<std::vector<DeploymentCount>> TrialStore::Deployments(
    int64_t most) const {
  MutexLock lock(&reader_mutex_);
  absl::StatusOr<SqliteStatement> select = reader_.Prepare(
      "SELECT deployment, COUNT(*), MAX(sequence) FROM trial "
      "GROUP BY deployment ORDER BY 3 DESC LIMIT ?");
  if (!select.ok()) return select.status();
  select->BindInt(1, most);
  std::vector<DeploymentCount> counts;
  while (true) {
    const absl::StatusOr<bool> has_row = select->Step();
    if (!has_row.ok()) return has_row.status();
    if (!*has_row) return counts;
    counts.push_back({select->Text(0), select->Int(1), select->Int(2)});
  }
}

absl::StatusOr<StoreCounts> TrialStore::Counts() const {
  StoreCounts counts;
  {
    MutexLock lock(&mutex_);
    counts.waiting = unfinished_.WaitingCount();
    counts.running = unfinished_.RunningCount();
  }
  MutexLock lock(&reader_mutex_);
  absl::StatusOr<SqliteStatement> select = reader_.Prepare(
      "SELECT decided_count, bundle_count, bundle_bytes FROM total");
  if (!select.ok()) return select.status();
  const absl::StatusOr<bool> has_row = select->Step();
  if (!has_row.ok()) return has_row.status();
  counts.decided = select->Int(0);
  counts.bundle_count = select->Int(1);
  counts.bundle_bytes = select->Int(2);
  return counts;
}

absl::Status TrialStore::BackUp(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0) {
    return errno == EEXIST
               ? absl::AlreadyExistsError(absl::StrCat(
                     folder, ": already exists; name another folder"))
               : FileError(errno, folder, "cannot be made");
  }
  {
    MutexLock lock(&mutex_);
    ++backup_count_;
  }
  const absl::Status status = CopyBundles(folder);
  Digests removed;
  {
    MutexLock lock(&mutex_);
    if (--backup_count_ == 0) removed.swap(removed_later_);
  }
  RemoveBundles(removed);
  return status;
}

absl::Status TrialStore::CopyBundles(const std::string& folder) {
  SqliteOptions access;
  access.file_layer = options_.file_layer;
  // A separate connection does not block readers.
  absl::StatusOr<SqliteDatabase> database =
      SqliteDatabase::Open(folder_ + kDatabaseName, access);
  if (!database.ok()) return database.status();
  // The database is copied first. Each bundle in its copy still exists, because
  // RemoveBundles keeps bundles while backup_count_ is above 0.
  const absl::Status backed_up = database->BackUp(folder + kDatabaseName);
  if (!backed_up.ok()) return backed_up;
  absl::StatusOr<SqliteDatabase> copy =
      SqliteDatabase::Open(folder + kDatabaseName, access);
  if (!copy.ok()) return copy.status();
  const absl::StatusOr<BundleFolder> bundles =
      BundleFolder::Open(folder + kBundlesName);
  if (!bundles.ok()) return bundles.status();
  absl::StatusOr<SqliteStatement> select =
      copy->Prepare("SELECT sha256 FROM bundle");
  if (!select.ok()) return select.status();
  while (true) {
    const absl::StatusOr<bool> has_row = select->Step();
    if (!has_row.ok()) return has_row.status();
    if (!*has_row) return FlushFolder(folder);
    const absl::Status copied = bundles_.CopyTo(select->Text(0), *bundles);
    if (!copied.ok()) return copied;
  }
}

}  // namespace footprint

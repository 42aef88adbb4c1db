#include "footprint/gates/store/trial_database.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// "FPLG", as SQLite's application_id.
constexpr int kApplication = 0x46504c47;
constexpr int kSchemaVersion = 1;

// Of `total` there is one row, kept by the triggers: a count of a million rows
// would be read row by row.
constexpr char kSchema[] = R"sql(
CREATE TABLE bundle(
  sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX bundle_by_age ON bundle(last_sequence);
CREATE TABLE trial(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
  bundle_sha256 TEXT NOT NULL, deployment TEXT NOT NULL,
  submitter TEXT NOT NULL, submitted_unix_seconds INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL DEFAULT 0, decided_order INTEGER UNIQUE,
  decided_unix_seconds INTEGER, decision INTEGER);
CREATE INDEX trial_of_deployment ON trial(deployment, sequence);
CREATE INDEX trial_of_bundle ON trial(bundle_sha256, decided_order);
CREATE INDEX trial_that_waits ON trial(sequence) WHERE decided_order IS NULL;
CREATE TABLE result(sequence INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE total(
  bundle_count INTEGER NOT NULL, bundle_bytes INTEGER NOT NULL,
  trial_count INTEGER NOT NULL, decided_count INTEGER NOT NULL,
  last_decided_order INTEGER NOT NULL);
INSERT INTO total VALUES(0, 0, 0, 0, 0);
CREATE TRIGGER bundle_added AFTER INSERT ON bundle BEGIN
  UPDATE total SET bundle_count = bundle_count + 1,
                   bundle_bytes = bundle_bytes + NEW.bytes;
END;
CREATE TRIGGER bundle_removed AFTER DELETE ON bundle BEGIN
  UPDATE total SET bundle_count = bundle_count - 1,
                   bundle_bytes = bundle_bytes - OLD.bytes;
END;
CREATE TRIGGER trial_added AFTER INSERT ON trial BEGIN
  UPDATE total SET trial_count = trial_count + 1;
END;
CREATE TRIGGER trial_decided AFTER UPDATE OF decided_order ON trial BEGIN
  UPDATE total SET decided_count = decided_count + 1,
                   last_decided_order = NEW.decided_order;
END;
CREATE TRIGGER trial_removed AFTER DELETE ON trial BEGIN
  UPDATE total SET trial_count = trial_count - 1,
                   decided_count = decided_count - 1;
  DELETE FROM result WHERE sequence = OLD.sequence;
END;
)sql";

absl::StatusOr<int> NumberOf(SqliteDatabase* database,
                             const std::string& pragma) {
  const absl::StatusOr<std::string> text = database->Ask(pragma);
  if (!text.ok()) return text.status();
  int number = 0;
  if (!absl::SimpleAtoi(*text, &number)) {
    return absl::DataLossError(absl::StrCat(pragma, " gives '", *text, "'"));
  }
  return number;
}

absl::Status Damaged(const std::string& path, absl::string_view reason) {
  return absl::DataLossError(absl::StrCat(
      path, ": the database is damaged: ", reason,
      "; it stays as it is. To restore: move the whole store folder away, copy "
      "a backup of it (folder backups) to its place, and start again"));
}

// Whether it is a new one, if it may be used at all.
absl::StatusOr<bool> IsNew(const std::string& path, SqliteDatabase* database) {
  const absl::StatusOr<std::string> check =
      database->Ask("PRAGMA quick_check(1)");
  if (!check.ok() && absl::IsDataLoss(check.status())) {
    return Damaged(path, check.status().message());
  }
  if (!check.ok()) return check.status();
  if (*check != "ok") return Damaged(path, *check);
  const absl::StatusOr<int> application =
      NumberOf(database, "PRAGMA application_id");
  if (!application.ok()) return application.status();
  const absl::StatusOr<int> version = NumberOf(database, "PRAGMA user_version");
  if (!version.ok()) return version.status();
  const absl::StatusOr<int> table_count =
      NumberOf(database, "SELECT COUNT(*) FROM sqlite_schema");
  if (!table_count.ok()) return table_count.status();
  if (*application == 0 && *version == 0 && *table_count == 0) return true;
  if (*application != kApplication) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": a database of another program; name another store folder"));
  }
  if (*version != kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": of schema ", *version, ", and this server knows ",
                     kSchemaVersion, " only; start the newer server"));
  }
  return false;
}

}  // namespace

absl::StatusOr<SqliteDatabase> OpenTrialDatabase(const std::string& path,
                                                 const SqliteOptions& options) {
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, options);
  if (!database.ok()) return database.status();
  database->KeepLogOnClose(true);
  const absl::StatusOr<bool> is_new = IsNew(path, &*database);
  if (!is_new.ok()) return is_new.status();
  absl::StatusOr<std::string> mode = database->Ask("PRAGMA journal_mode=WAL");
  if (!mode.ok()) return mode.status();
  if (*mode != "wal") {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": this file system has no shared memory for SQLite's log; name "
        "a store folder on a local disk"));
  }
  if (*is_new) {
    const absl::Status made = database->Execute(
        absl::StrCat("PRAGMA synchronous=FULL; BEGIN IMMEDIATE;", kSchema,
                     "PRAGMA application_id=", kApplication,
                     "; PRAGMA user_version=", kSchemaVersion, "; COMMIT"));
    if (!made.ok()) return made;
  }
  database->KeepLogOnClose(false);
  return database;
}

}  // namespace footprint

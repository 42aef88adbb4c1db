#include "footprint/gates/store/trial_database.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "footprint/base/files/fingerprint.h"

namespace footprint {
namespace {

// "FPLG", as SQLite's application_id.
constexpr int kApplication = 0x46504c47;
constexpr int kSchemaVersion = 3;
// The first versions that have seals and limits.
constexpr int kVersionWithSeals = 2;
constexpr int kVersionWithLimits = 3;

// The tables of schema 1. `total` has one row, which the triggers update:
// counting a million rows would read each of them.
constexpr char kTables[] = R"sql(
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

// Schema 2 adds this.
constexpr char kSeals[] = R"sql(
CREATE TABLE seal(
  sequence INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL);
CREATE TRIGGER trial_removed_with_seal AFTER DELETE ON trial BEGIN
  DELETE FROM seal WHERE sequence = OLD.sequence;
END;
)sql";

// Schema 3 adds this: what the submitter's token allows, where it has a limit.
constexpr char kLimits[] = R"sql(
CREATE TABLE trial_limit(
  sequence INTEGER PRIMARY KEY, most_budget_bytes INTEGER NOT NULL,
  most_seconds INTEGER NOT NULL);
CREATE TRIGGER trial_removed_with_limit AFTER DELETE ON trial BEGIN
  DELETE FROM trial_limit WHERE sequence = OLD.sequence;
END;
)sql";

// The columns that a seal covers, beginning with the sequence number. The
// submitter has the limits behind it, so that a trial without a limit has the
// seal that it had in schema 2. No name contains the line's end between them.
constexpr char kSealedColumns[] =
    "trial.sequence, key, bundle_sha256, deployment, submitter$0, "
    "submitted_unix_seconds, attempt_count, decided_order, "
    "decided_unix_seconds, decision, bytes";
constexpr char kSealedLimits[] =
    " || IFNULL(char(10) || most_budget_bytes || ' ' || most_seconds, '')";
constexpr int kSealedColumnCount = 11;

// Selects kAgreement if the rows of the tables agree, or what is wrong. Selects
// no row if there is no total.
constexpr char kAgreement[] = "agree";
constexpr char kAgreementQuery[] = R"sql(
SELECT CASE
  WHEN (SELECT COUNT(*) FROM total) <> 1 THEN 'no total'
  WHEN bundle_count <> (SELECT COUNT(*) FROM bundle) OR
       bundle_bytes <> (SELECT IFNULL(SUM(bytes), 0) FROM bundle)
    THEN 'the total of bundles is wrong'
  WHEN trial_count <> (SELECT COUNT(*) FROM trial) OR
       decided_count <> (SELECT COUNT(decided_order) FROM trial) OR
       last_decided_order <>
         (SELECT IFNULL(MAX(decided_order), 0) FROM trial)
    THEN 'the total of trials is wrong'
  WHEN decided_count <> (SELECT COUNT(*) FROM result)
    THEN 'a verdict without a trial, or a trial without its verdict'
  ELSE 'agree' END FROM total
)sql";

constexpr char kSchemaText[] =
    "SELECT group_concat(type || name || tbl_name || IFNULL(sql, ''), char(10))"
    " FROM (SELECT * FROM sqlite_schema ORDER BY name)";

absl::StatusOr<int> ReadSchemaNumber(SqliteDatabase* database,
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

absl::Status MissingBesideBundles(const std::string& path) {
  return absl::DataLossError(absl::StrCat(
      path,
      ": the database is missing or empty, and there are bundles beside it; "
      "nothing is made or removed. To restore: move the whole store folder "
      "away, copy a backup of it (folder backups) to its place, and start "
      "again. To begin anew: move the folder bundles away, too"));
}

// Returns the fingerprint of a trial's row. It covers the length of each
// column, so that bytes cannot move between columns, and tells NULL from an
// empty text.
int64_t FingerprintOfRow(const SqliteStatement& row) {
  uint64_t fingerprint = kFingerprintOfNothing;
  for (int column = 0; column < kSealedColumnCount; ++column) {
    const std::string text = row.Text(column);
    const int64_t size =
        row.IsNull(column) ? -1 : static_cast<int64_t>(text.size());
    fingerprint = Fingerprint(&size, sizeof(size), fingerprint);
    fingerprint = Fingerprint(text.data(), static_cast<int64_t>(text.size()),
                              fingerprint);
  }
  return static_cast<int64_t>(fingerprint);
}

std::string SealedRows(int version, absl::string_view more_columns,
                       absl::string_view condition) {
  const bool has_limits = version >= kVersionWithLimits;
  return absl::StrCat(
      "SELECT ",
      absl::Substitute(kSealedColumns, has_limits ? kSealedLimits : ""),
      more_columns,
      " FROM trial LEFT JOIN result USING(sequence) "
      "LEFT JOIN seal USING(sequence) ",
      has_limits ? "LEFT JOIN trial_limit USING(sequence) " : "", condition);
}

absl::Status SealIsBroken(const SqliteStatement& row) {
  return absl::DataLossError(absl::StrCat(
      "trial ", row.Int(0), " is not as it was written: its seal is broken"));
}

// Returns whether the row matches its seal, which is the last column.
bool IsSealed(const SqliteStatement& row) {
  return !row.IsNull(kSealedColumnCount) &&
         row.Int(kSealedColumnCount) == FingerprintOfRow(row);
}

absl::Status CheckSeals(int version, SqliteDatabase* database) {
  absl::StatusOr<SqliteStatement> select =
      database->Prepare(SealedRows(version, ", fingerprint", ""));
  if (!select.ok()) return select.status();
  while (true) {
    const absl::StatusOr<bool> has_row = select->Step();
    if (!has_row.ok()) return has_row.status();
    if (!*has_row) return absl::OkStatus();
    if (!IsSealed(*select)) return SealIsBroken(*select);
  }
}

absl::Status SealEveryTrial(SqliteDatabase* database) {
  absl::StatusOr<SqliteStatement> next =
      database->Prepare("SELECT MIN(sequence) FROM trial WHERE sequence > ?");
  if (!next.ok()) return next.status();
  int64_t sequence = 0;
  while (true) {
    const absl::StatusOr<bool> has_row = next->BindInt(1, sequence).Step();
    if (!has_row.ok()) return has_row.status();
    if (next->IsNull(0)) return absl::OkStatus();
    sequence = next->Int(0);
    const absl::StatusOr<bool> ended = next->Step();
    if (!ended.ok()) return ended.status();
    const absl::Status sealed = SealTrial(database, sequence);
    if (!sealed.ok()) return sealed;
  }
}

// Returns what the schemas after `old_version`, up to `new_version`, add.
std::string AdditionsBetween(int old_version, int new_version) {
  const auto adds = [&](int version) {
    return old_version < version && version <= new_version;
  };
  return absl::StrCat(adds(kVersionWithSeals) ? kSeals : "",
                      adds(kVersionWithLimits) ? kLimits : "");
}

// Checks that tables, indexes and triggers are exactly those of this program.
absl::Status CheckSchema(int version, SqliteDatabase* database) {
  absl::StatusOr<SqliteDatabase> model = SqliteDatabase::Open(":memory:", {});
  if (!model.ok()) return model.status();
  const absl::Status made =
      model->Execute(absl::StrCat(kTables, AdditionsBetween(1, version)));
  if (!made.ok()) return made;
  const absl::StatusOr<std::string> wanted = model->Ask(kSchemaText);
  if (!wanted.ok()) return wanted.status();
  const absl::StatusOr<std::string> found = database->Ask(kSchemaText);
  if (!found.ok()) return found.status();
  return *wanted == *found
             ? absl::OkStatus()
             : absl::DataLossError("its tables are not those of this program");
}

// Checks the content. Returns DataLoss; the caller adds what to do.
absl::Status CheckContent(int version, SqliteDatabase* database) {
  absl::Status status = CheckSchema(version, database);
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> agreement = database->Ask(kAgreementQuery);
  if (!agreement.ok()) return agreement.status();
  if (*agreement != kAgreement) {
    return absl::DataLossError(agreement->empty() ? "no total" : *agreement);
  }
  return version >= kVersionWithSeals ? CheckSeals(version, database)
                                      : absl::OkStatus();
}

// Returns the schema of the file, 0 if it has no table yet, or why it may not
// be used.
absl::StatusOr<int> Examine(const std::string& path, SqliteDatabase* database) {
  const absl::StatusOr<std::string> check =
      database->Ask("PRAGMA integrity_check(1)");
  if (!check.ok() && absl::IsDataLoss(check.status())) {
    return Damaged(path, check.status().message());
  }
  if (!check.ok()) return check.status();
  if (*check != "ok") return Damaged(path, *check);
  const absl::StatusOr<int> application =
      ReadSchemaNumber(database, "PRAGMA application_id");
  if (!application.ok()) return application.status();
  const absl::StatusOr<int> version =
      ReadSchemaNumber(database, "PRAGMA user_version");
  if (!version.ok()) return version.status();
  const absl::StatusOr<int> table_count =
      ReadSchemaNumber(database, "SELECT COUNT(*) FROM sqlite_schema");
  if (!table_count.ok()) return table_count.status();
  if (*application == 0 && *version == 0 && *table_count == 0) {
    return 0;
  }
  if (*application != kApplication) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": a database of another program; name another store folder"));
  }
  if (*version < 1 || *version > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": of schema ", *version, ", and this server knows ",
                     "1 to ", kSchemaVersion, "; start the newer server"));
  }
  const absl::Status content = CheckContent(*version, database);
  if (absl::IsDataLoss(content)) return Damaged(path, content.message());
  if (!content.ok()) return content;
  return version;
}

// Makes what a database of an older schema lacks, in one transaction.
absl::Status BringUpToDate(int version, SqliteDatabase* database) {
  absl::Status status = database->Execute(absl::StrCat(
      "PRAGMA synchronous=FULL; BEGIN IMMEDIATE;", version == 0 ? kTables : "",
      AdditionsBetween(version, kSchemaVersion), "PRAGMA application_id=",
      kApplication, "; PRAGMA user_version=", kSchemaVersion));
  if (status.ok() && version < kVersionWithSeals) {
    status = SealEveryTrial(database);
  }
  return status.ok() ? database->Execute("COMMIT") : status;
}

bool IsMissingOrEmpty(const std::string& path) {
  struct stat about = {};
  return stat(path.c_str(), &about) != 0 || about.st_size == 0;
}

}  // namespace

absl::StatusOr<SqliteDatabase> OpenTrialDatabase(const std::string& path,
                                                 const SqliteOptions& options,
                                                 NewDatabase new_database) {
  // This comes before SQLite opens the file, since it removes the log of an
  // empty database.
  if (new_database == NewDatabase::kRefuse && IsMissingOrEmpty(path)) {
    return MissingBesideBundles(path);
  }
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, options);
  if (!database.ok()) return database.status();
  database->KeepLogOnClose(true);
  const absl::StatusOr<int> version = Examine(path, &*database);
  if (!version.ok()) return version.status();
  if (*version == 0 && new_database == NewDatabase::kRefuse) {
    return MissingBesideBundles(path);
  }
  absl::StatusOr<std::string> mode = database->Ask("PRAGMA journal_mode=WAL");
  if (!mode.ok()) return mode.status();
  if (*mode != "wal") {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": this file system has no shared memory for SQLite's log; name "
        "a store folder on a local disk"));
  }
  if (*version != kSchemaVersion) {
    const absl::Status made = BringUpToDate(*version, &*database);
    if (!made.ok()) return made;
  }
  database->KeepLogOnClose(false);
  return database;
}

absl::Status SealTrial(SqliteDatabase* database, int64_t sequence) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(
      SealedRows(kSchemaVersion, "", "WHERE trial.sequence = ?"));
  if (!select.ok()) return select.status();
  const absl::StatusOr<bool> has_row = select->BindInt(1, sequence).Step();
  if (!has_row.ok()) return has_row.status();
  if (!*has_row) return absl::OkStatus();  // there is nothing to seal
  absl::StatusOr<SqliteStatement> insert =
      database->Prepare("INSERT OR REPLACE INTO seal VALUES(?, ?)");
  if (!insert.ok()) return insert.status();
  return insert->BindInt(1, sequence)
      .BindInt(2, FingerprintOfRow(*select))
      .Run();
}

absl::Status CheckSeal(SqliteDatabase* database, int64_t sequence) {
  absl::StatusOr<SqliteStatement> select = database->Prepare(
      SealedRows(kSchemaVersion, ", fingerprint", "WHERE trial.sequence = ?"));
  if (!select.ok()) return select.status();
  const absl::StatusOr<bool> has_row = select->BindInt(1, sequence).Step();
  if (!has_row.ok()) return has_row.status();
  return !*has_row || IsSealed(*select) ? absl::OkStatus()
                                        : SealIsBroken(*select);
}

}  // namespace footprint

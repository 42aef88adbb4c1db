// Opens the validation server's database, and checks its tables.
//
//   absl::StatusOr<SqliteDatabase> database =
//       OpenTrialDatabase(path, {}, NewDatabase::kMake);
//   absl::Status status = SealTrial(&*database, sequence);   // after a change
//   status = CheckSeal(&*database, sequence);                // before a use
//
// The whole database is checked before anything is written to it. A database
// that is damaged, belongs to another program or has a newer schema stays
// unchanged, byte for byte, with its log. The check finds even a single changed
// bit that could change an answer: SQLite compares tables with their indexes,
// each trial has a seal (a fingerprint of its row and its result), and the
// totals and the schema are verified. A database of schema 1 gets its seals
// when it is opened, and one of schema 1 or 2 the table of limits.
//
// Errors say what to do. DataLoss: the database is damaged, or missing where it
// must exist. FailedPrecondition: it belongs to another program, has a schema
// that this program does not know, or lies on a file system without shared
// memory. Other errors are those of SqliteDatabase.
//
// Thread-safe; the caller owns the connection. Memory: SQLite's, and one
// result. Time: a check reads the whole database, about 200 MB a second.

#ifndef FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_
#define FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/store/sqlite_database.h"

namespace footprint {

// Whether to make a database that is missing or empty. If there are bundles
// beside it, pass kRefuse, since a new database would not know them.
enum class NewDatabase { kMake, kRefuse };

// Opens a database in WAL mode.
absl::StatusOr<SqliteDatabase> OpenTrialDatabase(const std::string& path,
                                                 const SqliteOptions& options,
                                                 NewDatabase new_database);

// Writes the seal of a trial's present state, if there is such a trial. Call it
// in the transaction that changes the trial.
absl::Status SealTrial(SqliteDatabase* database, int64_t sequence);

// Returns DataLoss if the trial or its result does not match its seal, and OK
// if there is no such trial.
absl::Status CheckSeal(SqliteDatabase* database, int64_t sequence);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

// The tables of the validation server's database.
//
//   absl::StatusOr<SqliteDatabase> database =
//       OpenTrialDatabase(path, {}, NewDatabase::kMake);
//   absl::Status status = SealTrial(&*database, sequence);   // after a change
//   status = CheckSeal(&*database, sequence);                // before a use
//
// A database is checked as a whole before anything is written to it: one that
// is damaged, of another program or of a newer schema stays as it is, byte for
// byte, with its log. The check finds a single bit that changed: SQLite
// compares tables with their indexes, each trial has a seal, which is a
// fingerprint of its row and its result, and the totals and the schema are
// compared with what they must be. A database of schema 1 gets its seals when
// it is opened.
//
// Errors name the way out. DataLoss: damaged, or missing where it must be
// there. FailedPrecondition: of another program, or of a newer schema. Else
// SqliteDatabase's.
//
// Thread-safe; the caller owns the connection. Memory: SQLite's, and one
// result. Time: a check reads the whole database, some 200 MB a second.

#ifndef FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_
#define FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/store/sqlite_database.h"

namespace footprint {

// Whether a database that is missing or empty is made. Where bundles are, it
// must be there: a new one knows none of them.
enum class NewDatabase { kMake, kRefuse };

// The result is in WAL mode.
absl::StatusOr<SqliteDatabase> OpenTrialDatabase(const std::string& path,
                                                 const SqliteOptions& options,
                                                 NewDatabase new_database);

// Writes the seal of a trial as it is now, in the transaction that changes it.
absl::Status SealTrial(SqliteDatabase* database, int64_t sequence);

// DataLoss: the trial or its result is not as it was sealed.
absl::Status CheckSeal(SqliteDatabase* database, int64_t sequence);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

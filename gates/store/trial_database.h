// The tables of the validation server's database.
//
//   absl::StatusOr<SqliteDatabase> database = OpenTrialDatabase(path, {});
//
// A database is checked as a whole before anything is written to it: one that
// is damaged, of another program or of a newer schema stays as it is, byte for
// byte, with its log.
//
// Errors name the way out. DataLoss: damaged. FailedPrecondition: of another
// program, or of a newer schema. Else SqliteDatabase's.
//
// Thread-safe; the caller owns the connection. Memory: SQLite's. Time: a check
// reads the whole database, some 200 MB a second.

#ifndef FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_
#define FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/gates/store/sqlite_database.h"

namespace footprint {

// Makes the database if it is missing. It is in WAL mode.
absl::StatusOr<SqliteDatabase> OpenTrialDatabase(const std::string& path,
                                                 const SqliteOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_TRIAL_DATABASE_H_

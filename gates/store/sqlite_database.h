// A connection to an SQLite database, and its statements.
//
//   absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, {});
//   absl::Status status = database->Execute("CREATE TABLE t(name TEXT)");
//   absl::StatusOr<SqliteStatement> insert =
//       database->Prepare("INSERT INTO t VALUES (?)");
//   status = insert->BindText(1, "a").Run();
//
// Errors name the file and what SQLite says. ResourceExhausted: the disk is
// full. DataLoss: damaged, or no database. Unavailable: busy, or the disk
// failed. PermissionDenied: it must not be written. NotFound: it cannot be
// opened. Internal: any other, a mistake of this program.
//
// Movable; thread-compatible: one thread at a time. A statement must not
// outlive its database. Memory: SQLite's, here at most 2 MiB of pages a
// connection.

#ifndef FOOTPRINT_GATES_STORE_SQLITE_DATABASE_H_
#define FOOTPRINT_GATES_STORE_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace footprint {

// A text or bytes are copied when they are bound and when they are read.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&&) = default;
  SqliteStatement& operator=(SqliteStatement&&) = default;

  // The first parameter is 1.
  SqliteStatement& BindInt(int index, int64_t value);
  SqliteStatement& BindText(int index, absl::string_view value);
  SqliteStatement& BindBytes(int index, absl::string_view value);

  // Returns whether there is a further row, whose columns can be read until the
  // next call. Once it said no, the statement begins again.
  absl::StatusOr<bool> Step();
  // Runs a statement that returns no rows.
  absl::Status Run();

  // The first column is 0. NULL is 0, or an empty text.
  int64_t Int(int column) const;
  std::string Text(int column) const;
  bool IsNull(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

struct SqliteOptions {
  bool is_read_only = false;
  // Name of the layer of files; nullptr: the system's.
  const char* file_layer = nullptr;
};

class SqliteDatabase {
 public:
  // Makes the file if it is missing, unless it is to be read only.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path,
                                             const SqliteOptions& options);

  SqliteDatabase(SqliteDatabase&&) = default;
  SqliteDatabase& operator=(SqliteDatabase&&) = default;

  // Any number of statements without parameters; rows are passed over.
  absl::Status Execute(const std::string& statements);
  absl::StatusOr<SqliteStatement> Prepare(absl::string_view statement);
  // The first column of the first row: of a pragma, for one.
  absl::StatusOr<std::string> Ask(absl::string_view statement);

  // Returns whether the close of the last connection leaves the log as it is.
  void KeepLogOnClose(bool keeps);

  // Copies all of it into a new database at `path`, while others read and
  // write. The copy is on the disk when this returns.
  absl::Status BackUp(const std::string& path);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_SQLITE_DATABASE_H_

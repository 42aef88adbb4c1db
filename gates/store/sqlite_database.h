// Wraps a connection to an SQLite database, and its statements.
//
//   absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, {});
//   absl::Status status = database->Execute("CREATE TABLE t(name TEXT)");
//   absl::StatusOr<SqliteStatement> insert =
//       database->Prepare("INSERT INTO t VALUES (?)");
//   status = insert->BindText(1, "a").Run();
//
// Errors have the file's name and SQLite's message. ResourceExhausted: the disk
// is full, there is no memory, or a text is too large. DataLoss: the file is
// damaged or not a database. Unavailable: another connection held its lock for
// 10 s, or the disk failed. PermissionDenied: it must not be written. NotFound:
// it cannot be opened. Internal: any other error, which is a bug of this
// program.
//
// Movable; thread-compatible. A statement must not outlive its database.
// Memory: SQLite's, here at most 2 MiB of pages for each connection.

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

// A prepared statement. Texts and bytes are copied when they are bound and when
// they are read.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&&) = default;
  SqliteStatement& operator=(SqliteStatement&&) = default;

  // These bind a parameter; the first one has index 1.
  SqliteStatement& BindInt(int index, int64_t value);
  SqliteStatement& BindText(int index, absl::string_view value);
  SqliteStatement& BindBytes(int index, absl::string_view value);

  // Returns whether there is another row, whose columns can be read until the
  // next call. After it returns false, the statement starts again.
  absl::StatusOr<bool> Step();
  // Runs a statement to its end, and ignores its rows.
  absl::Status Run();

  // These read a column of the row; the first one has index 0. NULL is read as
  // 0 or as an empty text.
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
  // Name of SQLite's file layer (VFS); nullptr for the system's.
  const char* file_layer = nullptr;
};

class SqliteDatabase {
 public:
  // Opens a database. Makes the file if it is missing, unless it is read-only.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path,
                                             const SqliteOptions& options);

  SqliteDatabase(SqliteDatabase&&) = default;
  SqliteDatabase& operator=(SqliteDatabase&&) = default;

  // Executes any number of statements without parameters; ignores their rows.
  absl::Status Execute(const std::string& statements);
  absl::StatusOr<SqliteStatement> Prepare(absl::string_view statement);
  // Returns the first column of the first row, for example of a pragma; "" if
  // there is no row.
  absl::StatusOr<std::string> Ask(absl::string_view statement);

  // Sets whether the log stays when the last connection is closed.
  void KeepLogOnClose(bool keeps);

  // Copies the whole database into the one at `path`, which is new or is
  // replaced, while others read and write. The copy is on the disk when this
  // returns.
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

#include "footprint/gates/store/sqlite_database.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

namespace footprint {
namespace {

// How long a connection waits for a lock of another.
constexpr int kBusyMilliseconds = 10000;

absl::StatusCode ToStatusCode(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      return absl::StatusCode::kUnavailable;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kNotFound;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status MakeError(sqlite3* database, int result) {
  const char* path =
      database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  return absl::Status(
      ToStatusCode(result),
      absl::StrCat(path == nullptr ? "" : path, ": ",
                   database == nullptr ? sqlite3_errstr(result)
                                       : sqlite3_errmsg(database)));
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteStatement::SqliteStatement(sqlite3* database, sqlite3_stmt* statement)
    : database_(database), statement_(statement) {}

SqliteStatement& SqliteStatement::BindInt(int index, int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

SqliteStatement& SqliteStatement::BindText(int index, absl::string_view value) {
  sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::BindBytes(int index,
                                            absl::string_view value) {
  sqlite3_bind_blob64(statement_.get(), index, value.data(), value.size(),
                      SQLITE_TRANSIENT);
  return *this;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  const absl::Status error =
      result == SQLITE_DONE ? absl::OkStatus() : MakeError(database_, result);
  sqlite3_reset(statement_.get());
  if (!error.ok()) return error;
  return false;
}

absl::Status SqliteStatement::Run() {
  while (true) {
    const absl::StatusOr<bool> has_row = Step();
    if (!has_row.ok()) return has_row.status();
    if (!*has_row) return absl::OkStatus();
  }
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::Text(int column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<size_t>(size));
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void SqliteDatabase::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(
    const std::string& path, const SqliteOptions& options) {
  const int access = options.is_read_only
                         ? SQLITE_OPEN_READONLY
                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* opened = nullptr;
  // Only one thread at a time uses a connection, so SQLite's mutexes are not
  // needed.
  const int result = sqlite3_open_v2(
      path.c_str(), &opened, access | SQLITE_OPEN_NOMUTEX, options.file_layer);
  SqliteDatabase database(opened);  // closes it even if the opening failed
  if (result != SQLITE_OK) {
    return absl::Status(
        ToStatusCode(result),
        absl::StrCat(path, ": ",
                     opened == nullptr ? sqlite3_errstr(result)
                                       : sqlite3_errmsg(opened)));
  }
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return database;
}

absl::Status SqliteDatabase::Execute(const std::string& statements) {
  const int result = sqlite3_exec(database_.get(), statements.c_str(), nullptr,
                                  nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus()
                             : MakeError(database_.get(), result);
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(
    absl::string_view statement) {
  sqlite3_stmt* prepared = nullptr;
  const int result = sqlite3_prepare_v2(database_.get(), statement.data(),
                                        static_cast<int>(statement.size()),
                                        &prepared, nullptr);
  if (result != SQLITE_OK) return MakeError(database_.get(), result);
  return SqliteStatement(database_.get(), prepared);
}

absl::StatusOr<std::string> SqliteDatabase::Ask(absl::string_view statement) {
  absl::StatusOr<SqliteStatement> prepared = Prepare(statement);
  if (!prepared.ok()) return prepared.status();
  const absl::StatusOr<bool> has_row = prepared->Step();
  if (!has_row.ok()) return has_row.status();
  return *has_row ? prepared->Text(0) : std::string();
}

void SqliteDatabase::KeepLogOnClose(bool keeps) {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                    keeps ? 1 : 0, nullptr);
}

absl::Status SqliteDatabase::BackUp(const std::string& path) {
  absl::StatusOr<SqliteDatabase> copy = Open(path, {});
  if (!copy.ok()) return copy.status();
  sqlite3* destination = copy->database_.get();
  sqlite3_backup* backup =
      sqlite3_backup_init(destination, "main", database_.get(), "main");
  if (backup == nullptr) {
    return MakeError(destination, sqlite3_extended_errcode(destination));
  }
  // One step copies all pages as of one moment, and does not block a writer.
  // With several steps, each write between two steps would restart the copy.
  const int result = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  return result == SQLITE_DONE ? absl::OkStatus()
                               : MakeError(destination, result);
}

}  // namespace footprint

// Reads the fields of comma-separated values one by one, with their positions.
//
//   CsvParser fields("prices.csv", text);
//   while (fields.Next()) {
//     Use(fields.text(), fields.is_last_in_record());
//   }
//   return fields.status();
//
// Syntax: RFC 4180, but lines may also end in LF alone. A byte-order mark at
// the beginning is skipped, and that of UTF-16 is an error. The last line may
// lack its line end. An empty line is a record with one empty field. Fields may
// be separated by another byte than the comma.
//
// A class that reads a file derives from this one and provides the bytes piece
// by piece.
//
// Thread-compatible; neither copyable nor movable. Memory: 32 KiB, for a text
// of any length. Time: linear.

#ifndef FOOTPRINT_BASE_TEXT_CSV_PARSER_H_
#define FOOTPRINT_BASE_TEXT_CSV_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

class CsvParser {
 public:
  // A longer field is an error.
  static constexpr size_t kMaximumFieldBytes = 32 << 10;

  // Parses `text`, which must outlive the parser. Errors begin with `name`.
  // `delimiter` separates the fields; it must not be a quote or a line end.
  CsvParser(absl::string_view name, absl::string_view text,
            char delimiter = ',');
  virtual ~CsvParser() = default;
  CsvParser(const CsvParser&) = delete;
  CsvParser& operator=(const CsvParser&) = delete;

  // Goes to the next field. Returns false at the end of the text or after an
  // error.
  bool Next();

  // Returns OK if there was no error so far. An error is InvalidArgument, or
  // has the code with which NextBytes failed; the message has its position.
  const absl::Status& status() const { return status_; }

  // Returns the field's text, unquoted; valid until the next call of Next.
  absl::string_view text() const { return {field_.get(), field_size_}; }
  bool is_last_in_record() const { return is_last_in_record_; }
  bool is_quoted() const { return is_quoted_; }

  // Return where the field begins, from 1; columns are counted in bytes.
  int64_t line() const { return field_line_; }
  int64_t column() const { return field_column_; }
  // Returns "name:line:column" of the field's beginning.
  std::string Location() const;

 protected:
  // Makes a parser without a text; call Begin before Next.
  explicit CsvParser(char delimiter);

  // Begins a text that NextBytes returns piece by piece, up to an empty piece.
  // Returns the status.
  absl::Status Begin(absl::string_view name);

 private:
  // Returns the next piece, which must be valid until the next call. The first
  // piece must have at least three bytes, or the whole text. The parser keeps
  // an error's code and message.
  virtual absl::StatusOr<absl::string_view> NextBytes() {
    return absl::string_view();
  }

  int Peek();
  void Advance();
  void Refill();
  void SkipByteOrderMark();
  bool Append(int byte);
  void AppendPlain();
  bool ReadQuoted();
  bool ReadPlain();
  bool EndField();
  bool Fail(absl::StatusCode code, absl::string_view message);
  bool Fail(absl::string_view message);

  const char delimiter_;
  std::string name_;
  absl::Status status_;
  absl::string_view bytes_;
  size_t position_ = 0;
  bool at_end_ = false;
  std::unique_ptr<char[]> field_;
  size_t field_size_ = 0;
  bool is_last_in_record_ = true;
  bool is_quoted_ = false;
  int64_t line_ = 1;
  int64_t column_ = 1;
  int64_t field_line_ = 1;
  int64_t field_column_ = 1;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_CSV_PARSER_H_

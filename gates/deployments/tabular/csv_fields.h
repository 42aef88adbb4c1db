// The fields of a CSV file one after another, with their places.
//
//   CsvFields fields;
//   absl::Status status = fields.Open("prices.csv");
//   while (fields.Next()) {
//     Use(fields.text(), fields.is_last_in_record());
//   }
//   status = fields.status();
//
// Syntax: RFC 4180, and lines may end in LF alone; a byte-order mark at the
// beginning is skipped. The end of the last line may be missing. Another byte
// than the comma may part the fields.
//
// Thread-compatible. Memory: 64 KiB, however large the file. Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_CSV_FIELDS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_CSV_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace tabular {

class CsvFields {
 public:
  static constexpr size_t kMaximumFieldBytes = 32 << 10;

  // `delimiter` parts the fields; no quote and no end of a line.
  explicit CsvFields(char delimiter = ',');
  ~CsvFields();
  CsvFields(const CsvFields&) = delete;
  CsvFields& operator=(const CsvFields&) = delete;

  // kNotFound, kPermissionDenied or kInternal if `path` cannot be opened. To be
  // called once, first.
  absl::Status Open(const std::string& path);

  // Goes to the next field; false at the end of the file or after an error.
  bool Next();

  // OK at the end of the file; kInvalidArgument with the place of the error.
  const absl::Status& status() const { return status_; }

  // The field's text, unquoted; valid until the next call of Next.
  absl::string_view text() const { return {field_.get(), field_size_}; }
  bool is_last_in_record() const { return is_last_in_record_; }
  bool is_quoted() const { return is_quoted_; }

  // "file:line:column" of the field's beginning.
  std::string Place() const;

 private:
  int Peek();
  void Advance();
  void FillBuffer();
  bool Append(int byte);
  bool ReadQuoted();
  bool ReadPlain();
  bool EndField();
  bool Fail(const std::string& message);

  const char delimiter_;
  std::string path_;
  int descriptor_ = -1;
  absl::Status status_;
  std::unique_ptr<char[]> buffer_;
  size_t buffer_size_ = 0;
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

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_CSV_FIELDS_H_

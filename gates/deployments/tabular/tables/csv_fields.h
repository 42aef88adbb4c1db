// Reads the fields of a CSV file one after another, with their locations.
//
//   CsvFields fields;
//   absl::Status status = fields.Open("prices.csv");
//   while (fields.Next()) {
//     Use(fields.text(), fields.is_last_in_record());
//   }
//   status = fields.status();
//
// The syntax is that of csv_parser.h. The file may be a pipe; then Open and
// Next wait until its writers have written the next 32 KiB, or have closed it.
// Owns the open file; text() is valid until the next call of Next.
// Thread-compatible. Memory: 64 KiB for a file of any size. Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FIELDS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FIELDS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/text/csv_parser.h"

namespace footprint {
namespace tabular {

class CsvFields : public CsvParser {
 public:
  // `delimiter` separates the fields. It must not be a quote or a line end.
  explicit CsvFields(char delimiter = ',');

  // Opens the file. Returns an error of FileError (//base/files:file_error),
  // such as kNotFound, if `path` cannot be read, and kInvalidArgument if it is
  // UTF-16. Must be called once, first.
  absl::Status Open(const std::string& path);

 private:
  absl::StatusOr<absl::string_view> NextBytes() override;

  FileDescriptor file_;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FIELDS_H_

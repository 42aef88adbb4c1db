// Reads and writes tables as text: comma-separated values under a header row
// (RFC 4180).
//
//   absl::StatusOr<Table> table = ReadCsvTable("prices.csv", {});
//   if (!table.ok()) return table.status();
//   // prices.csv:7:12: field 3 should be a number but is "n/a"
//
// Fields may be quoted, and lines end in LF or CRLF. A byte-order mark, blanks
// around a number and blank lines at the end are skipped. A number may have a
// plus sign, and is 0 if it is too small for a double, as in pandas and numpy.
// The locale makes no difference, and a number that was written is read back
// bit for bit. NaN and infinite values are refused: no estimator here can learn
// from them.
//
// The functions are thread-safe, without state; a writer is thread-compatible.
// Memory: the table, buffers of 64 KiB in all, and the text of the first line
// while it is read. A field longer than 32 KiB is refused. Time: linear, in one
// pass, so a pipe can be read too.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_TABLE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {

// The meaning of a file's first line.
enum class CsvHeader {
  // The line has the columns' names. It is refused if the name of a column that
  // is not ignored looks like a value: a number, nothing, or a word for a
  // missing number (NA, nan, inf, null, "?" and the like).
  kAuto,
  // The line has the columns' names, even if they look like values.
  kYes,
  // The line is a row, and the columns are named "1", "2" and so on.
  kNo,
};

struct CsvColumns {
  // Name of the column that becomes the table's last; empty for the file's
  // last.
  std::string target;
  // Names of columns that are skipped, whatever their contents.
  std::vector<std::string> ignored;
  CsvHeader header = CsvHeader::kAuto;
  // Delimiter of the fields; not a quote or a line end.
  char delimiter = ',';
};

// Reads a table. Returns kNotFound or kPermissionDenied if the file cannot be
// opened, and kInvalidArgument with "file:line:column" (both from 1, the column
// in bytes) if its text is not as described above: a field that is not a
// number, too many or too few fields, an unclosed quote, no rows, two columns
// of one name, or numbers in place of names. Also returns kNotFound for a
// column that the header does not name, and kResourceExhausted if there is no
// memory for the table.
absl::StatusOr<Table> ReadCsvTable(const std::string& path,
                                   const CsvColumns& columns);

// Writes "feature_1,...,target", then rows as they come.
//
//   absl::StatusOr<CsvTableWriter> writer =
//       CsvTableWriter::Create("prices.csv", /*column_count=*/3);
//   absl::Status status = writer->AddRow(numbers);
//   if (status.ok()) status = writer->Commit();
class CsvTableWriter {
 public:
  // Fails as AtomicFile does. A device or pipe is written directly.
  static absl::StatusOr<CsvTableWriter> Create(const std::string& path,
                                               size_t column_count);
  absl::Status AddRow(const double* numbers);
  // Completes the file. Must be called once.
  absl::Status Commit() { return file_.Commit(); }

 private:
  CsvTableWriter(AtomicFile file, size_t column_count)
      : file_(std::move(file)), column_count_(column_count) {}

  AtomicFile file_;
  size_t column_count_;
};

// Writes one column under the header `name`. Fails as CsvTableWriter::Create
// does.
absl::Status WriteCsvColumn(const std::string& name,
                            absl::Span<const double> numbers,
                            const std::string& path);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_TABLE_H_

// Tables as text: comma-separated values under a header row (RFC 4180).
//
//   absl::StatusOr<Table> table = ReadCsvTable("prices.csv", {});
//   if (!table.ok()) return table.status();
//   // prices.csv:7:12: field 3 should be a number but is "n/a"
//
// Fields may be quoted, lines end in LF or CRLF, a byte-order mark is skipped,
// blanks around a number too, and blank lines at the end. A number may have a
// plus sign, and is 0 if it is too small for a double, as for pandas and numpy.
// Numbers are read and written the same way in every locale, and a number that
// was written is read back bit for bit. NaN and infinite values are refused: no
// estimator here can learn from them.
//
// Thread-safe: no state is kept. Memory: the table and buffers of 64 KiB in
// all, and while the first line is read its text; a record of fields longer
// than 32 KiB each is refused. Time: linear, one pass, so a pipe can be read
// too.

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

// Kinds of first lines.
enum class CsvHeader {
  // The columns' names; refused if one, of a column that is not ignored, is a
  // field that a row would hold: a number, nothing, or a word for a missing
  // number (NA, nan, inf, null, "?" and the like).
  kAuto,
  // The columns' names, whatever they are.
  kYes,
  // A row: the columns are named "1", "2" and so on.
  kNo,
};

struct CsvColumns {
  // Name of the column that becomes the table's last; empty: the last.
  std::string target;
  // Names of columns that are skipped, whatever they hold.
  std::vector<std::string> ignored;
  CsvHeader header = CsvHeader::kAuto;
  // Delimiter of the fields; no quote and no end of a line.
  char delimiter = ',';
};

// kNotFound or kPermissionDenied if the file cannot be opened; kInvalidArgument
// with "file:line:column" (both from 1, the column in bytes) for what is not as
// described above: a field that is no number, too many or too few fields, a
// quote that is never closed, no rows, two columns of one name, numbers where
// names should be; kNotFound also for a column that the header does not name;
// kResourceExhausted if there is no memory for the table.
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
  // Errors as of AtomicFile; a device or pipe is written as it is.
  static absl::StatusOr<CsvTableWriter> Create(const std::string& path,
                                               size_t column_count);
  absl::Status AddRow(const double* numbers);
  // Writes the file for good; called once.
  absl::Status Commit() { return file_.Commit(); }

 private:
  CsvTableWriter(AtomicFile file, size_t column_count)
      : file_(std::move(file)), column_count_(column_count) {}

  AtomicFile file_;
  size_t column_count_;
};

// Writes one column under the header `name`.
absl::Status WriteCsvColumn(const std::string& name,
                            absl::Span<const double> numbers,
                            const std::string& path);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_TABLE_H_

// Reads any text as a table of numbers, with any choice of columns.

#include <cmath>
#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {
namespace {

// Chooses columns by the bits of a byte.
CsvColumns ChooseColumns(unsigned char choice) {
  CsvColumns columns;
  columns.header = static_cast<CsvHeader>((choice & 3) % 3);
  columns.delimiter = ",;\t|"[choice >> 2 & 3];
  if ((choice & 16) != 0) columns.target = "1";
  if ((choice & 32) != 0) columns.target = "a";
  if ((choice & 64) != 0) columns.ignored = {"b"};
  if ((choice & 128) != 0) columns.ignored = {"2", "b"};
  return columns;
}

// Returns whether the row's numbers are those of the whole row, with some left
// out.
bool IsContained(const double* row, size_t count, const double* whole,
                 size_t whole_count) {
  size_t found = 0;
  for (size_t i = 0; i < whole_count && found < count; ++i) {
    if (whole[i] == row[found]) ++found;
  }
  return found == count;
}

// Compares `table` with the table of all columns, if the columns that it leaves
// out are numbers.
void CompareWithWhole(const std::string& path, CsvColumns columns,
                      const Table& table) {
  columns.ignored.clear();
  const absl::StatusOr<Table> whole = ReadCsvTable(path, columns);
  if (!whole.ok()) return;
  Require(table.row_count() == whole->row_count(), "no row is left out");
  for (size_t row = 0; row < table.row_count(); ++row) {
    Require(IsContained(table.Row(row), table.column_count(), whole->Row(row),
                        whole->column_count()),
            "what is left out changes no other number");
  }
}

void ReadAnyText(absl::string_view bytes) {
  if (bytes.empty()) return;
  const MemoryFile file(bytes.substr(1));
  const CsvColumns columns =
      ChooseColumns(static_cast<unsigned char>(bytes[0]));
  const absl::StatusOr<Table> table = ReadCsvTable(file.path(), columns);
  if (!table.ok()) return RequireRefusal(table.status());
  Require(table->row_count() > 0 && table->column_count() > 0,
          "a table has numbers");
  for (size_t row = 0; row < table->row_count(); ++row) {
    for (size_t column = 0; column < table->column_count(); ++column) {
      Require(std::isfinite(table->Row(row)[column]), "numbers are finite");
    }
  }
  if (!columns.ignored.empty()) CompareWithWhole(file.path(), columns, *table);
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyText)

}  // namespace tabular
}  // namespace footprint

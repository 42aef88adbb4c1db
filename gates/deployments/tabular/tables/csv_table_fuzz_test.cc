// Any text as a table of numbers, with any choice of columns.

#include <cmath>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {
namespace {

// By the bits of a byte.
CsvColumns ColumnsOf(unsigned char choice) {
  CsvColumns columns;
  columns.header = static_cast<CsvHeader>((choice & 3) % 3);
  columns.delimiter = ",;\t|"[choice >> 2 & 3];
  if ((choice & 16) != 0) columns.target = "1";
  if ((choice & 32) != 0) columns.target = "a";
  if ((choice & 64) != 0) columns.ignored = {"b"};
  if ((choice & 128) != 0) columns.ignored = {"2", "b"};
  return columns;
}

void ReadAnyText(absl::string_view bytes) {
  if (bytes.empty()) return;
  const MemoryFile file(bytes.substr(1));
  const absl::StatusOr<Table> table = ReadCsvTable(
      file.path(), ColumnsOf(static_cast<unsigned char>(bytes[0])));
  if (!table.ok()) return RequireRefusal(table.status());
  Require(table->row_count() > 0 && table->column_count() > 0,
          "a table has numbers");
  for (size_t row = 0; row < table->row_count(); ++row) {
    for (size_t column = 0; column < table->column_count(); ++column) {
      Require(std::isfinite(table->Row(row)[column]), "numbers are finite");
    }
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyText)

}  // namespace tabular
}  // namespace footprint

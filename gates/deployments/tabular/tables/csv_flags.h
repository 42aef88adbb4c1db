// Defines the flags of programs that read CSV tables: --target, --ignore,
// --header and --delimiter.
//
//   absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
//   if (!columns.ok()) return columns.status();
//   absl::StatusOr<Table> table = ReadCsvTable(path, *columns);
//
// Thread-safe once the flags are parsed. Memory: the columns own copies of the
// flags' texts.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"

namespace footprint {
namespace tabular {

// Returns the columns that the flags describe. Returns kInvalidArgument, with
// the flag's name, for an invalid value.
absl::StatusOr<CsvColumns> CsvColumnsOfFlags();

// Returns kInvalidArgument, with the flag's name, if one of these flags has
// another value than its default. Programs call it when they read another
// format.
absl::Status RefuseCsvFlags();

// Returns kInvalidArgument, with the first such word, if the command line has
// words that are not flags: `--ignore a b` ignores only a. `arguments` begins
// with the program's name.
absl::Status RefuseArguments(const std::vector<char*>& arguments);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_

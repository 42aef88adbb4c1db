// The flags of programs that read CSV tables: --target, --ignore, --header and
// --delimiter.
//
//   absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
//   if (!columns.ok()) return columns.status();
//   absl::StatusOr<Table> table = ReadCsvTable(path, *columns);
//
// Thread-safe once the flags are parsed. Memory: the flags' texts, which the
// columns own copies of.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"

namespace footprint {
namespace tabular {

// kInvalidArgument, naming the flag, for a value that it cannot have.
absl::StatusOr<CsvColumns> CsvColumnsOfFlags();

// kInvalidArgument, naming the flag, if one was given that tells about CSV: for
// programs that were told to read something else.
absl::Status RefuseCsvFlags();

// kInvalidArgument, naming the first, if the command line has more than flags:
// `--ignore a b` leaves out a alone. The program's own name is `arguments`'
// first.
absl::Status RefuseArguments(const std::vector<char*>& arguments);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_CSV_FLAGS_H_

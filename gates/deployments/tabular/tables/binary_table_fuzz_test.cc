// Any bytes as a binary table, as they are and as the header of one: mapped and
// read, it is the same.

#include <cstddef>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/named_file.h"
#include "footprint/base/testing/safetensors_bytes.h"
#include "footprint/gates/deployments/tabular/tables/binary_table.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {
namespace {

void ReadTable(absl::string_view bytes) {
  const NamedFile file(bytes);
  const absl::StatusOr<Table> mapped = MapBinaryTable(file.path());
  const absl::StatusOr<Table> read = ReadBinaryTable(file.path());
  Require(mapped.ok() == read.ok(), "both readers accept the same");
  if (!mapped.ok()) {
    RequireRefusal(mapped.status());
    return RequireRefusal(read.status());
  }
  Require(read->column_count() > 0, "a table has columns");
  Require(mapped->row_count() == read->row_count() &&
              mapped->column_count() == read->column_count(),
          "both readers find the same table");
  for (size_t row = 0; row < read->row_count(); ++row) {
    Require(std::memcmp(mapped->Row(row), read->Row(row),
                        read->column_count() * sizeof(double)) == 0,
            "both readers find the same numbers");
  }
}

void ReadAnyFile(absl::string_view bytes) {
  ReadTable(bytes);
  ReadTable(SafetensorsBytes(bytes));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace tabular
}  // namespace footprint

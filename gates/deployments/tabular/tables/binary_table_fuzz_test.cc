// Reads any bytes as a binary table, as the header of one, and as the shape of
// six numbers. The mapped and the streamed table must be equal.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/fuzzed_safetensors.h"
#include "footprint/base/testing/named_file.h"
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

void ReadShape(absl::string_view shape) {
  const bool is_plain =
      std::all_of(shape.begin(), shape.end(), [](unsigned char c) {
        return absl::ascii_isprint(c) && c != '"' && c != '\\';
      });
  if (!is_plain) return;
  constexpr char kBefore[] = R"({"table":{"dtype":"F64","shape":[)";
  constexpr char kBehind[] = R"(],"data_offsets":[0,48]}})";
  constexpr char kDataBytes[] = {48, '\0'};
  ReadTable(
      FuzzedSafetensors(absl::StrCat(kBefore, shape, kBehind, kDataBytes)));
}

void ReadAnyFile(absl::string_view bytes) {
  ReadShape(bytes);
  ReadTable(bytes);
  ReadTable(FuzzedSafetensors(bytes));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace tabular
}  // namespace footprint

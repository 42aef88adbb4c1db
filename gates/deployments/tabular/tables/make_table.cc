// Writes a table for the experiment: generated from a seed, or converted from
// CSV. See --help.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/same_file.h"
#include "footprint/gates/deployments/tabular/tables/binary_table.h"
#include "footprint/gates/deployments/tabular/tables/csv_flags.h"
#include "footprint/gates/deployments/tabular/tables/csv_table.h"
#include "footprint/gates/deployments/tabular/tables/linear_data.h"

ABSL_FLAG(std::string, output, "", "file to write");
ABSL_FLAG(std::string, format, "csv", "format of the output: csv or binary");
ABSL_FLAG(absl::optional<int64_t>, features, absl::nullopt,
          "number of features to generate; default: 10");
ABSL_FLAG(absl::optional<int64_t>, rows, absl::nullopt,
          "number of rows to generate; default: 1000");
ABSL_FLAG(absl::optional<uint64_t>, seed, absl::nullopt,
          "seed of the generated values; default: 1");
ABSL_FLAG(std::string, from_csv, "",
          "convert this CSV file instead of generating a table; --target, "
          "--ignore, --header and --delimiter describe the file");

namespace footprint {
namespace tabular {
namespace {

template <typename Writer>
absl::Status WriteTable(const Table& table, absl::StatusOr<Writer> writer) {
  if (!writer.ok()) return writer.status();
  for (size_t row = 0; row < table.row_count(); ++row) {
    const absl::Status status = writer->AddRow(table.Row(row));
    if (!status.ok()) return status;
  }
  return writer->Commit();
}

template <typename Writer>
absl::Status WriteGenerated(LinearData* data, size_t row_count,
                            size_t column_count,
                            absl::StatusOr<Writer> writer) {
  if (!writer.ok()) return writer.status();
  std::vector<double> row(column_count);
  for (size_t i = 0; i < row_count; ++i) {
    data->NextRow(absl::MakeSpan(row));
    const absl::Status status = writer->AddRow(row.data());
    if (!status.ok()) return status;
  }
  return writer->Commit();
}

// Refuses the flags of the generator if the table is converted.
absl::Status RefuseGeneratorFlags() {
  const char* given = absl::GetFlag(FLAGS_features).has_value() ? "features"
                      : absl::GetFlag(FLAGS_rows).has_value()   ? "rows"
                      : absl::GetFlag(FLAGS_seed).has_value()   ? "seed"
                                                                : nullptr;
  if (given == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", given,
                   " is for a generated table, and --from_csv converts one; "
                   "leave it out"));
}

absl::Status Convert(const std::string& output, bool is_binary) {
  const absl::Status status = RefuseGeneratorFlags();
  if (!status.ok()) return status;
  const std::string input = absl::GetFlag(FLAGS_from_csv);
  if (IsSameFile(input, output)) {
    return absl::InvalidArgumentError(absl::StrCat(
        output,
        ": is named by --from_csv and by --output, which would overwrite it"));
  }
  const absl::StatusOr<CsvColumns> columns = CsvColumnsOfFlags();
  if (!columns.ok()) return columns.status();
  absl::StatusOr<Table> table = ReadCsvTable(input, *columns);
  if (!table.ok()) return table.status();
  if (is_binary) {
    return WriteTable(*table,
                      BinaryTableWriter::Create(output, table->row_count(),
                                                table->column_count()));
  }
  return WriteTable(*table,
                    CsvTableWriter::Create(output, table->column_count()));
}

int64_t FeatureCount() { return absl::GetFlag(FLAGS_features).value_or(10); }

absl::Status Generate(const std::string& output, bool is_binary) {
  const int64_t features = FeatureCount();
  const int64_t rows = absl::GetFlag(FLAGS_rows).value_or(1000);
  if (features < 1 || rows < 1) {
    return absl::InvalidArgumentError("--features and --rows must be above 0");
  }
  const size_t column_count = static_cast<size_t>(features) + 1;
  const size_t row_count = static_cast<size_t>(rows);
  LinearData data(static_cast<size_t>(features),
                  absl::GetFlag(FLAGS_seed).value_or(1));
  if (is_binary) {
    return WriteGenerated(
        &data, row_count, column_count,
        BinaryTableWriter::Create(output, row_count, column_count));
  }
  return WriteGenerated(&data, row_count, column_count,
                        CsvTableWriter::Create(output, column_count));
}

absl::Status MakeTable() {
  const std::string output = absl::GetFlag(FLAGS_output);
  const std::string format = absl::GetFlag(FLAGS_format);
  if (output.empty()) {
    return absl::InvalidArgumentError("--output=FILE is missing");
  }
  if (format != "csv" && format != "binary") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format is \"", format, "\"; it must be csv or binary"));
  }
  if (!absl::GetFlag(FLAGS_from_csv).empty()) {
    return Convert(output, format == "binary");
  }
  absl::Status status = RefuseCsvFlags();
  if (!status.ok()) return status;
  try {
    return Generate(output, format == "binary");
  } catch (const std::exception&) {
    // This is std::bad_alloc or std::length_error: only a few rows are in
    // memory.
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for rows of ", FeatureCount(),
                     " features, which take 8 bytes each; lower --features"));
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Writes a table for the tabular experiment.\n"
      "  make_table --features=10 --rows=1000 --output=data.csv\n"
      "  make_table --from_csv=data.csv --format=binary --output=data.table");
  absl::FlagsUsageConfig usage;
  usage.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "gates/deployments/tabular/");
  };
  usage.contains_helpshort_flags = usage.contains_help_flags;
  absl::SetFlagsUsageConfig(usage);
  absl::Status status = footprint::tabular::RefuseArguments(
      footprint::ParseProgramFlags(argc, argv, /*wrong_flag_exit_code=*/1));
  if (status.ok()) status = footprint::tabular::MakeTable();
  if (status.ok()) return 0;
  std::fprintf(stderr, "make_table: %s\n",
               std::string(status.message()).c_str());
  return 1;
}

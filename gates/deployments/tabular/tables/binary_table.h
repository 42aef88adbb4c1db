// Reads and writes tables as binary files. Reading maps the file or streams it.
//
//   absl::StatusOr<BinaryTableWriter> writer =
//       BinaryTableWriter::Create("prices.table", /*row_count=*/2,
//                                 /*column_count=*/3);
//   absl::Status status = writer->AddRow(numbers);
//   if (status.ok()) status = writer->AddRow(more_numbers);
//   if (status.ok()) status = writer->Commit();
//
//   absl::StatusOr<Table> mapped = MapBinaryTable("prices.table");
//   absl::StatusOr<Table> read = ReadBinaryTable("prices.table");
//
// The file has the safetensors format: one tensor "table", F64 [rows, columns],
// with the target's column last.
//
// A mapped table takes no heap: its pages are read when they are touched, and
// the kernel may drop them. The file must not be changed while it is mapped. A
// streamed table is a copy in the heap, after which the file may be deleted.
//
// The readers are thread-safe, without state; a writer is thread-compatible.
// Memory: a few hundred bytes if mapped, the table if streamed. Time: constant
// if mapped, linear if streamed. Both readers fail as SafetensorsFile does
// (//base/safetensors:safetensors_file), with kInvalidArgument also if the file
// holds no table, and with kResourceExhausted if there is no memory, or no
// address space, for the table.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_BINARY_TABLE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_BINARY_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {

// MapBinaryTable maps the file, and ReadBinaryTable copies it to the heap.
absl::StatusOr<Table> MapBinaryTable(const std::string& path);
absl::StatusOr<Table> ReadBinaryTable(const std::string& path);

class BinaryTableWriter {
 public:
  // Fails as SafetensorsWriter does.
  static absl::StatusOr<BinaryTableWriter> Create(const std::string& path,
                                                  size_t row_count,
                                                  size_t column_count);
  // Adds a row of `column_count` numbers. Must be called `row_count` times.
  absl::Status AddRow(const double* numbers);
  // Completes the file. Must be called once, last.
  absl::Status Commit() { return file_.Finish(); }

 private:
  BinaryTableWriter(SafetensorsWriter file, size_t column_count)
      : file_(std::move(file)), column_count_(column_count) {}

  SafetensorsWriter file_;
  size_t column_count_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_BINARY_TABLE_H_

// Tables as binary files, read by mapping the file or by streaming it.
//
//   BinaryTableWriter writer("prices.table", /*row_count=*/2,
//                            /*column_count=*/3);
//   writer.AddRow(numbers);
//   writer.AddRow(more_numbers);
//   absl::Status status = writer.Commit();
//
//   absl::StatusOr<Table> mapped = MapBinaryTable("prices.table");
//   absl::StatusOr<Table> read = ReadBinaryTable("prices.table");
//
// The file: a header of 64 bytes, then the numbers, row by row, each a double
// of 8 bytes, least significant byte first.
//
//   bytes  0 to  7  "FPTABLE" and a zero
//   bytes  8 to 15  version of the format, 1
//   bytes 16 to 23  count of rows
//   bytes 24 to 31  count of columns, the target's included
//   bytes 32 to 55  zero
//   bytes 56 to 63  checksum (checksum.h) of the bytes before it
//
// A mapped table takes no heap: its pages are read when they are touched and
// are the kernel's to drop. The file must not be changed while it is mapped.
// The streamed one is a copy in the heap, and the file may then go away.
//
// Thread-safe: no state is kept. Memory: mapped, a few hundred bytes; streamed,
// the table. Time: mapped, constant; streamed, linear. Errors of both readers:
// * kNotFound, kPermissionDenied or kInternal: the file cannot be opened;
// * kInvalidArgument: of another format, or its dimensions cannot be;
// * kFailedPrecondition: of a newer version;
// * kResourceExhausted: no memory, or no room in the process, for the table;
// * kDataLoss: damaged header, or shorter or longer than its header says.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_BINARY_TABLE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_BINARY_TABLE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/output_file.h"
#include "footprint/gates/deployments/tabular/table.h"

namespace footprint {
namespace tabular {

absl::StatusOr<Table> MapBinaryTable(const std::string& path);
absl::StatusOr<Table> ReadBinaryTable(const std::string& path);

class BinaryTableWriter {
 public:
  BinaryTableWriter(const std::string& path, size_t row_count,
                    size_t column_count);
  // To be called `row_count` times, with `column_count` numbers.
  void AddRow(const double* numbers);
  // False after a failure, which Commit reports; more rows then do nothing.
  bool ok() const { return file_.ok(); }
  // Errors as of output_file.h. To be called once, last.
  absl::Status Commit() { return file_.Commit(); }

 private:
  OutputFile file_;
  const size_t column_count_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_BINARY_TABLE_H_

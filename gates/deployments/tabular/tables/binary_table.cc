#include "footprint/gates/deployments/tabular/tables/binary_table.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {
namespace tabular {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "numbers are stored as a little-endian processor holds them");

constexpr char kTensorName[] = "table";

struct TableFile {
  SafetensorsFile file;
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
  size_t row_count = 0;
  size_t column_count = 0;
};

absl::StatusOr<TableFile> OpenTable(const std::string& path) {
  constexpr char kWayOut[] =
      "; make a binary table with make_table, or read CSV with --io=csv";
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (absl::IsInvalidArgument(file.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.status().message(), kWayOut));
  }
  if (!file.ok()) return file.status();
  const TensorInfo* const tensor = file->index().FindOrNull(kTensorName);
  if (tensor == nullptr || file->index().tensors().size() != 1 ||
      tensor->dtype != DType::kF64 || tensor->shape.rank() != 2 ||
      tensor->size_bytes == 0 || tensor->offset_bytes % sizeof(double) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a binary table", kWayOut));
  }
  const int64_t offset_bytes = tensor->offset_bytes;
  const int64_t size_bytes = tensor->size_bytes;
  const size_t row_count = static_cast<size_t>(tensor->shape.extent(0));
  const size_t column_count = static_cast<size_t>(tensor->shape.extent(1));
  return TableFile{*std::move(file), offset_bytes, size_bytes, row_count,
                   column_count};
}

absl::Status NoMemoryError(const TableFile& table,
                           const TableBuilder& builder) {
  return absl::ResourceExhaustedError(absl::StrCat(
      table.file.name(), ": no memory for the table: ", table.size_bytes,
      " bytes, of which ", builder.size_bytes(), " were allocated and ",
      builder.refused_bytes(),
      " refused; raise the limit of memory, or leave the table in its file "
      "with --io=mapped"));
}

}  // namespace

absl::StatusOr<Table> MapBinaryTable(const std::string& path) {
  const absl::StatusOr<TableFile> table = OpenTable(path);
  if (!table.ok()) return table.status();
  const size_t size = static_cast<size_t>(table->file.index().file_bytes());
  void* map =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, table->file.descriptor(), 0);
  if (map == MAP_FAILED && errno == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": no room in the process to map ", size,
                     " bytes; raise its limit of address space (ulimit -v)"));
  }
  if (map == MAP_FAILED) {
    return FileError(errno, path, "cannot be mapped",
                     "read it with --io=binary");
  }
  const char* numbers = static_cast<const char*>(map) + table->offset_bytes;
  return Table::OverNumbers(reinterpret_cast<const double*>(numbers),
                            table->row_count, table->column_count,
                            [map, size] { munmap(map, size); });
}

absl::StatusOr<Table> ReadBinaryTable(const std::string& path) {
  const absl::StatusOr<TableFile> table = OpenTable(path);
  if (!table.ok()) return table.status();
  TableBuilder builder(table->column_count, table->row_count);
  int64_t offset_bytes = table->offset_bytes;
  for (size_t row = 0; row < table->row_count;) {
    const absl::Span<double> numbers = builder.AddRows(table->row_count - row);
    if (numbers.empty()) return NoMemoryError(*table, builder);
    const int64_t size_bytes =
        static_cast<int64_t>(numbers.size() * sizeof(double));
    const absl::Status status =
        table->file.Read(offset_bytes, size_bytes, numbers.data());
    if (!status.ok()) return status;
    offset_bytes += size_bytes;
    row += numbers.size() / table->column_count;
  }
  return std::move(builder).Build();
}

absl::StatusOr<BinaryTableWriter> BinaryTableWriter::Create(
    const std::string& path, size_t row_count, size_t column_count) {
  SafetensorsWriterOptions options;
  options.to_disk = ToDisk::kNoFsync;
  absl::StatusOr<SafetensorsWriter> file = SafetensorsWriter::Create(
      path,
      {{kTensorName,
        DType::kF64,
        {static_cast<int64_t>(row_count), static_cast<int64_t>(column_count)}}},
      options);
  if (!file.ok()) return file.status();
  return BinaryTableWriter(*std::move(file), column_count);
}

absl::Status BinaryTableWriter::AddRow(const double* numbers) {
  return file_.Append(numbers,
                      static_cast<int64_t>(column_count_ * sizeof(double)));
}

}  // namespace tabular
}  // namespace footprint

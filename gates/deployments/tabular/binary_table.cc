#include "footprint/gates/deployments/tabular/binary_table.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/checksum.h"
#include "footprint/base/files/input_file.h"

namespace footprint {
namespace tabular {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "numbers are stored as a little-endian processor holds them");

constexpr char kMagic[8] = "FPTABLE";
constexpr uint64_t kVersion = 1;

struct Header {
  char magic[8];
  uint64_t version;
  uint64_t row_count;
  uint64_t column_count;
  uint64_t reserved[3];
  uint64_t checksum;
};
static_assert(sizeof(Header) == 64, "the layout of the file");

uint64_t HeaderChecksum(const Header& header) {
  return Checksum(
      {reinterpret_cast<const char*>(&header), offsetof(Header, checksum)});
}

absl::Status CheckHeader(const Header& header, const InputFile& file) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(),
                     ": is no binary table; make one with make_table, or read "
                     "it with --io=csv"));
  }
  if (header.version > kVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        file.path(), ": has version ", header.version,
        " of the format, newer "
        "than ",
        kVersion, ", which this program knows; update the program"));
  }
  if (header.checksum != HeaderChecksum(header)) {
    return absl::DataLossError(absl::StrCat(
        file.path(), ": its header is damaged; write the file again"));
  }
  uint64_t number_count = 0;
  uint64_t expected_bytes = 0;
  if (header.row_count == 0 || header.column_count == 0 ||
      __builtin_mul_overflow(header.row_count, header.column_count,
                             &number_count) ||
      __builtin_mul_overflow(number_count, sizeof(double), &expected_bytes) ||
      __builtin_add_overflow(expected_bytes, sizeof(Header), &expected_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": cannot have ", header.row_count,
                     " rows of ", header.column_count, " columns"));
  }
  if (expected_bytes != file.size_bytes()) {
    return absl::DataLossError(absl::StrCat(
        file.path(), ": has ", file.size_bytes(), " bytes where ",
        header.row_count, " rows of ", header.column_count, " columns need ",
        expected_bytes, "; write the file again"));
  }
  return absl::OkStatus();
}

absl::Status ReadHeader(InputFile* file, Header* header) {
  if (file->size_bytes() < sizeof(Header)) {
    return absl::DataLossError(
        absl::StrCat(file->path(), ": has ", file->size_bytes(),
                     " bytes, less than the header of a binary table; write "
                     "the file again"));
  }
  absl::Status status = file->ReadExactly(header, sizeof(*header));
  return status.ok() ? CheckHeader(*header, *file) : status;
}

absl::Status NoMemoryError(const InputFile& file, const TableBuilder& builder) {
  return absl::ResourceExhaustedError(absl::StrCat(
      file.path(), ": no memory for the table: ",
      file.size_bytes() - sizeof(Header), " bytes, of which ",
      builder.size_bytes(), " were had and ", builder.refused_bytes(),
      " refused; raise the limit of memory, or leave the table in its file "
      "with "
      "--io=mapped"));
}

}  // namespace

absl::StatusOr<Table> MapBinaryTable(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  Header header;
  absl::Status status = ReadHeader(&*file, &header);
  if (!status.ok()) return status;
  const size_t size = static_cast<size_t>(file->size_bytes());
  void* map =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (map == MAP_FAILED && errno == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": no room in the process to map ", size,
                     " bytes; raise its limit of address space (ulimit -v)"));
  }
  if (map == MAP_FAILED) {
    return absl::InternalError(
        absl::StrCat(path, ": cannot be mapped: ", std::strerror(errno),
                     "; read it with --io=binary"));
  }
  const char* numbers = static_cast<const char*>(map) + sizeof(Header);
  return Table::OverNumbers(reinterpret_cast<const double*>(numbers),
                            static_cast<size_t>(header.row_count),
                            static_cast<size_t>(header.column_count),
                            [map, size] { munmap(map, size); });
}

absl::StatusOr<Table> ReadBinaryTable(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  Header header;
  absl::Status status = ReadHeader(&*file, &header);
  if (!status.ok()) return status;
  const size_t row_count = static_cast<size_t>(header.row_count);
  const size_t column_count = static_cast<size_t>(header.column_count);
  TableBuilder builder(column_count, row_count);
  for (size_t row = 0; row < row_count;) {
    const absl::Span<double> numbers = builder.AddRows(row_count - row);
    if (numbers.empty()) return NoMemoryError(*file, builder);
    status = file->ReadExactly(numbers.data(), numbers.size() * sizeof(double));
    if (!status.ok()) return status;
    row += numbers.size() / column_count;
  }
  return std::move(builder).Build();
}

BinaryTableWriter::BinaryTableWriter(const std::string& path, size_t row_count,
                                     size_t column_count)
    : file_(path), column_count_(column_count) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.row_count = row_count;
  header.column_count = column_count;
  header.checksum = HeaderChecksum(header);
  file_.Write({reinterpret_cast<const char*>(&header), sizeof(header)});
}

void BinaryTableWriter::AddRow(const double* numbers) {
  file_.Write(
      {reinterpret_cast<const char*>(numbers), column_count_ * sizeof(double)});
}

}  // namespace tabular
}  // namespace footprint

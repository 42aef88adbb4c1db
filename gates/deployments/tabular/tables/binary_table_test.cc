// Tests of the promises of binary_table.h, with both readers.

#include "footprint/gates/deployments/tabular/tables/binary_table.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table RandomTable(size_t row_count, size_t column_count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  TableBuilder builder(column_count, row_count);
  for (size_t row = 0; row < row_count; ++row) {
    double* numbers = builder.AddRow();
    for (size_t column = 0; column < column_count; ++column) {
      numbers[column] = normal(random);
    }
  }
  return std::move(builder).Build();
}

absl::Status WriteTable(const Table& table, const std::string& path) {
  absl::StatusOr<BinaryTableWriter> writer =
      BinaryTableWriter::Create(path, table.row_count(), table.column_count());
  if (!writer.ok()) return writer.status();
  for (size_t row = 0; row < table.row_count(); ++row) {
    const absl::Status status = writer->AddRow(table.Row(row));
    if (!status.ok()) return status;
  }
  return writer->Commit();
}

void ExpectEqualTables(const Table& a, const Table& b) {
  ASSERT_EQ(a.row_count(), b.row_count());
  ASSERT_EQ(a.column_count(), b.column_count());
  for (size_t row = 0; row < a.row_count(); ++row) {
    ASSERT_EQ(
        std::memcmp(a.Row(row), b.Row(row), a.column_count() * sizeof(double)),
        0)
        << "row " << row;
  }
}

std::string Path() { return testing::TempDir() + "/numbers.table"; }

std::string ValidBytes() {
  EXPECT_THAT(WriteTable(RandomTable(5, 3, 1), Path()), IsOk());
  std::ifstream file(Path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Makes a file of one tensor of `data_bytes` bytes. The data are aligned unless
// `spaces` shift them.
std::string MakeFile(const std::string& tensor, size_t data_bytes,
                     size_t spaces = 0) {
  std::string header =
      absl::StrCat("{", tensor, ",\"data_offsets\":[0,", data_bytes, "]}}");
  header.append(7 - (header.size() + 7) % 8 + spaces, ' ');
  return SafetensorsBytes(header, std::string(data_bytes, '\0'));
}

using Reader = absl::StatusOr<Table> (*)(const std::string&);

class BinaryTableTest : public testing::TestWithParam<Reader> {
 protected:
  absl::StatusOr<Table> ReadBytes(const std::string& bytes) {
    std::ofstream(Path(), std::ios::binary) << bytes;
    return GetParam()(Path());
  }
  void ExpectRefused(const std::string& bytes, absl::StatusCode code,
                     const std::string& message) {
    const absl::Status status = ReadBytes(bytes).status();
    EXPECT_THAT(status, StatusIs(code));
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("numbers.table"));
  }
};

TEST_P(BinaryTableTest, ReadsBackWhatWasWritten) {
  for (const auto& [rows, columns] :
       {std::pair<size_t, size_t>{1, 1}, {1000, 11}, {40, 501}, {3, 20000}}) {
    const Table table = RandomTable(rows, columns, 2);
    ASSERT_THAT(WriteTable(table, Path()), IsOk());
    const absl::StatusOr<Table> read = GetParam()(Path());
    ASSERT_THAT(read, IsOk());
    ExpectEqualTables(table, *read);
  }
}

TEST_P(BinaryTableTest, RefusesAMissingFile) {
  EXPECT_THAT(GetParam()("/missing.table"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(BinaryTableTest, RefusesEveryTruncationAndExtension) {
  const std::string bytes = ValidBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ExpectRefused(bytes.substr(0, size), absl::StatusCode::kInvalidArgument,
                  "make a binary table with make_table");
  }
  ExpectRefused(bytes + "x", absl::StatusCode::kInvalidArgument,
                "make a binary table with make_table");
}

TEST_P(BinaryTableTest, RefusesEveryFlippedBitOfTheHeader) {
  const std::string bytes = ValidBytes();
  const size_t header_bytes = bytes.size() - 5 * 3 * sizeof(double);
  for (size_t bit = 0; bit < 8 * header_bytes; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(ReadBytes(damaged), Not(IsOk())) << "bit " << bit;
  }
}

TEST_P(BinaryTableTest, RefusesWhatIsNoTable) {
  for (const std::string& bytes :
       {std::string(1000, 'x'),
        MakeFile(R"("weight":{"dtype":"F64","shape":[5,3])", 120),
        MakeFile(R"("table":{"dtype":"F32","shape":[5,3])", 60),
        MakeFile(R"("table":{"dtype":"F64","shape":[5,3,1])", 120),
        MakeFile(R"("table":{"dtype":"F64","shape":[15])", 120),
        MakeFile(R"("table":{"dtype":"F64","shape":[0,3])", 0),
        MakeFile(R"("table":{"dtype":"F64","shape":[5,0])", 0)}) {
    ExpectRefused(bytes, absl::StatusCode::kInvalidArgument,
                  "make a binary table with make_table");
  }
  // Unaligned numbers cannot be read in place.
  const std::string table = R"("table":{"dtype":"F64","shape":[5,3])";
  EXPECT_THAT(ReadBytes(MakeFile(table, 120)), IsOk());
  ExpectRefused(MakeFile(table, 120, /*spaces=*/1),
                absl::StatusCode::kInvalidArgument, "is no binary table");
}

INSTANTIATE_TEST_SUITE_P(EveryReader, BinaryTableTest,
                         testing::Values(&MapBinaryTable, &ReadBinaryTable),
                         [](const testing::TestParamInfo<Reader>& info) {
                           return info.index == 0 ? "Mapped" : "Streamed";
                         });

}  // namespace
}  // namespace tabular
}  // namespace footprint

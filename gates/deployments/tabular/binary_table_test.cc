// What binary_table.h promises, of both readers.

#include "footprint/gates/deployments/tabular/binary_table.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "footprint/base/files/checksum.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;

constexpr size_t kHeaderBytes = 64;

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
  BinaryTableWriter writer(path, table.row_count(), table.column_count());
  for (size_t row = 0; row < table.row_count(); ++row) {
    writer.AddRow(table.Row(row));
  }
  return writer.Commit();
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
  EXPECT_TRUE(WriteTable(RandomTable(5, 3, 1), Path()).ok());
  std::ifstream file(Path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void PutNumber(uint64_t number, size_t offset, std::string* bytes) {
  std::memcpy(&(*bytes)[offset], &number, sizeof(number));
}

void PutChecksum(std::string* bytes) {
  PutNumber(Checksum(bytes->substr(0, 56)), 56, bytes);
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
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("numbers.table"));
  }
};

TEST_P(BinaryTableTest, ReadsBackWhatWasWritten) {
  for (const auto& [rows, columns] :
       {std::pair<size_t, size_t>{1, 1}, {1000, 11}, {40, 501}, {3, 20000}}) {
    const Table table = RandomTable(rows, columns, 2);
    ASSERT_TRUE(WriteTable(table, Path()).ok());
    const absl::StatusOr<Table> read = GetParam()(Path());
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectEqualTables(table, *read);
  }
}

TEST_P(BinaryTableTest, RefusesAMissingFile) {
  EXPECT_EQ(GetParam()("/missing.table").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(BinaryTableTest, RefusesEveryTruncation) {
  const std::string bytes = ValidBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ExpectRefused(bytes.substr(0, size), absl::StatusCode::kDataLoss,
                  "write the file again");
  }
  ExpectRefused(bytes + "x", absl::StatusCode::kDataLoss, "has 185 bytes");
}

TEST_P(BinaryTableTest, RefusesAForeignFile) {
  ExpectRefused(std::string(1000, 'x'), absl::StatusCode::kInvalidArgument,
                "is no binary table");
}

TEST_P(BinaryTableTest, RefusesANewerVersion) {
  std::string bytes = ValidBytes();
  PutNumber(2, 8, &bytes);
  ExpectRefused(bytes, absl::StatusCode::kFailedPrecondition,
                "update the program");
}

TEST_P(BinaryTableTest, RefusesEveryFlippedBitOfTheHeader) {
  const std::string bytes = ValidBytes();
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(ReadBytes(damaged).ok()) << "bit " << bit;
  }
}

TEST_P(BinaryTableTest, RefusesDimensionsThatOverflow) {
  for (const auto& [rows, columns] : {std::pair<uint64_t, uint64_t>{0, 3},
                                      {5, 0},
                                      {uint64_t{1} << 63, 2},
                                      {uint64_t{1} << 61, 1},
                                      {(uint64_t{1} << 61) - 1, 1}}) {
    std::string bytes = ValidBytes();
    PutNumber(rows, 16, &bytes);
    PutNumber(columns, 24, &bytes);
    PutChecksum(&bytes);
    ExpectRefused(bytes, absl::StatusCode::kInvalidArgument, "cannot have");
  }
  std::string bytes = ValidBytes();
  PutNumber(6, 16, &bytes);
  PutChecksum(&bytes);
  ExpectRefused(bytes, absl::StatusCode::kDataLoss, "6 rows of 3 columns");
}

INSTANTIATE_TEST_SUITE_P(EveryReader, BinaryTableTest,
                         testing::Values(&MapBinaryTable, &ReadBinaryTable),
                         [](const testing::TestParamInfo<Reader>& info) {
                           return info.index == 0 ? "Mapped" : "Streamed";
                         });

TEST(BinaryTableWriterTest, ReportsAFullDisk) {
  EXPECT_EQ(WriteTable(RandomTable(5, 3, 1), "/dev/full").code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

#include "footprint/lowmem/weights/float_reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kRows = 7, kColumns = 600;

struct Fixture {
  Fixture(DType type, int64_t block_columns, WeightBackend backend) {
    RandomTensors random(type, /*seed=*/5);
    random.Matrix("matrix", kRows, kColumns);
    values = random.tensors().at("matrix").values;
    const std::string folder = WriteCheckpoint("{}", random.tensors(), type,
                                               "float_reader", block_columns);
    store = *WeightStore::Open(folder + "/model.safetensors", backend);
    matrix = *store->Find("matrix");
  }

  std::vector<float> Expected(int64_t row, int64_t rows) const {
    return {values.begin() + row * kColumns,
            values.begin() + (row + rows) * kColumns};
  }

  std::vector<float> values;
  std::unique_ptr<WeightStore> store;
  Weight matrix;
};

TEST(ReadRowsTest, GivesTheSameFloatsWhateverTheFileHolds) {
  for (const DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t block_columns : {int64_t{0}, int64_t{256}}) {
      for (const WeightBackend backend : kWeightBackends) {
        Fixture fixture(type, block_columns, backend);
        for (const int64_t row : {0, 3, 6}) {
          const int64_t rows = row == 3 ? 3 : 1;
          std::vector<float> read(rows * kColumns);
          const absl::Status status =
              ReadRows(*fixture.store, fixture.matrix, row, rows, read.data());
          ASSERT_THAT(status, IsOk());
          EXPECT_EQ(read, fixture.Expected(row, rows))
              << WeightBackendName(backend) << " panels of " << block_columns;
        }
      }
    }
  }
}

TEST(ReadRowsTest, ReadsNothingOfNoRows) {
  Fixture fixture(DType::kF32, 0, WeightBackend::kPread);
  EXPECT_THAT(ReadRows(*fixture.store, fixture.matrix, 2, 0, nullptr), IsOk());
  EXPECT_EQ(fixture.store->counters().reads, 0);
}

TEST(ReadRowsTest, RefusesRowsBeyondTheMatrix) {
  for (const int64_t block_columns : {int64_t{0}, int64_t{256}}) {
    Fixture fixture(DType::kF32, block_columns, WeightBackend::kPread);
    std::vector<float> read(2 * kColumns);
    EXPECT_THAT(
        ReadRows(*fixture.store, fixture.matrix, kRows - 1, 2, read.data()),
        StatusIs(absl::StatusCode::kOutOfRange))
        << block_columns;
  }
}

TEST(RowsInPlaceTest, AreWhereFloatsLieInMemory) {
  Fixture fixture(DType::kF32, 0, WeightBackend::kResident);
  const float* const rows =
      RowsInPlace(*fixture.store, fixture.matrix, 2, kRows - 2);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(std::vector<float>(rows, rows + (kRows - 2) * kColumns),
            fixture.Expected(2, kRows - 2));
}

TEST(RowsInPlaceTest, AreNotWhereTheyMustBeReadOrConverted) {
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    Fixture read(DType::kF32, 0, backend);
    EXPECT_EQ(RowsInPlace(*read.store, read.matrix, 0, kRows), nullptr);
  }
  Fixture converted(DType::kBF16, 0, WeightBackend::kResident);
  EXPECT_EQ(RowsInPlace(*converted.store, converted.matrix, 0, kRows), nullptr);
  Fixture panels(DType::kF32, 256, WeightBackend::kResident);
  EXPECT_EQ(RowsInPlace(*panels.store, panels.matrix, 0, kRows), nullptr);
  Fixture beyond(DType::kF32, 0, WeightBackend::kResident);
  EXPECT_EQ(RowsInPlace(*beyond.store, beyond.matrix, 1, kRows), nullptr);
}

}  // namespace
}  // namespace footprint

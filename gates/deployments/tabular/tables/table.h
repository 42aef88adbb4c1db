// A table of numbers: rows of equal length, the last column being the target.
//
//   TableBuilder builder(/*column_count=*/3);
//   double* row = builder.AddRow();      // fill row[0], row[1], row[2]
//   Table table = std::move(builder).Build();
//   double target = table.Row(0)[table.feature_count()];
//
// Rows lie one after another in blocks of at most `kBlockBytes` (or of one
// row), so a table can grow while it is read without ever being copied, and a
// mapped file is a table without being copied at all.
//
// A table owns its numbers, or the mapping they lie in. Thread-safe once built.
// Memory: 8 bytes a number, less than a row more a block, and 16 bytes a block.
// Time: adding and finding a row is constant.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_TABLE_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_TABLE_H_

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace footprint {
namespace tabular {

class Table {
 public:
  static constexpr size_t kBlockBytes = 64 << 10;

  // Row-major numbers that someone else holds until `release` is called, which
  // happens once.
  static Table OverNumbers(const double* numbers, size_t row_count,
                           size_t column_count, std::function<void()> release);

  // Makes a table without rows.
  Table() = default;
  Table(Table&& other) noexcept { *this = std::move(other); }
  Table& operator=(Table&& other) noexcept;
  ~Table() { Clear(); }

  size_t row_count() const { return row_count_; }
  size_t column_count() const { return column_count_; }
  size_t feature_count() const { return column_count_ - 1; }

  // The first `row_count` rows, which are still those of this table: it must
  // outlive what is returned.
  Table FirstRows(size_t row_count) const;

  // `column_count()` numbers; valid as long as the table.
  const double* Row(size_t row) const {
    return blocks_[row / rows_per_block_] +
           row % rows_per_block_ * column_count_;
  }

  // Gives all memory back; the table is then empty.
  void Clear();

 private:
  friend class TableBuilder;

  struct Free {
    void operator()(double* block) const { std::free(block); }
  };

  explicit Table(size_t column_count);

  size_t row_count_ = 0;
  size_t column_count_ = 1;
  size_t rows_per_block_ = 1;
  std::vector<const double*> blocks_;
  std::vector<std::unique_ptr<double, Free>> owned_blocks_;
  std::function<void()> release_;
};

class TableBuilder {
 public:
  // `column_count` is at least 1. Where the count of rows is known, no block is
  // larger than it must be; without it, or beyond it, the last one is cut in
  // Build.
  explicit TableBuilder(size_t column_count, size_t expected_row_count = 0);

  // The next row, to be filled by the caller: `column_count` numbers. Valid
  // until the next call. Null if there is no memory for it.
  double* AddRow() { return AddRows(1).data(); }

  // Adds at least one new row and at most `row_count`: as many as lie together.
  // Returns no row if there is no memory for one; those before stay as they
  // are.
  absl::Span<double> AddRows(size_t row_count);

  size_t row_count() const { return table_.row_count_; }
  size_t size_bytes() const {
    return table_.row_count_ * table_.column_count_ * sizeof(double);
  }
  // Bytes that the allocator last refused.
  size_t refused_bytes() const { return refused_bytes_; }

  Table Build() &&;

 private:
  bool ResizeLastBlock(size_t row_capacity);

  Table table_;
  const size_t expected_row_count_;
  size_t last_block_capacity_ = 0;
  size_t refused_bytes_ = 0;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_TABLES_TABLE_H_

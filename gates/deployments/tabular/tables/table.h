// A table of numbers: rows of equal length, the last column being the target.
//
//   TableBuilder builder(/*column_count=*/3);
//   double* row = builder.AddRow();      // fill row[0], row[1], row[2]
//   Table table = std::move(builder).Build();
//   double target = table.Row(0)[table.feature_count()];
//
// Rows lie one after another in blocks of at most `kBlockBytes` (or of one
// row). So a table can grow while it is read without being copied, and a mapped
// file can serve as a table without a copy.
//
// A table owns its numbers, or the mapping that holds them. Thread-safe once
// built. Memory: 8 bytes for each number; for each block less than one row and
// 16 bytes more. Time: constant to add or find a row.

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

  // Makes a table over row-major numbers that must live until the table calls
  // `release`, which it does once.
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

  // Returns a view of the first `row_count` rows. This table must outlive it.
  Table FirstRows(size_t row_count) const;

  // Returns the `column_count()` numbers of a row, which live as long as the
  // table.
  const double* Row(size_t row) const {
    return blocks_[row / rows_per_block_] +
           row % rows_per_block_ * column_count_;
  }

  // Frees all memory; the table is then empty.
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
  // `column_count` must be at least 1. If `expected_row_count` is right, no
  // block is larger than necessary; otherwise Build shrinks the last block.
  explicit TableBuilder(size_t column_count, size_t expected_row_count = 0);

  // Returns the next row for the caller to fill: `column_count` numbers, valid
  // until the next call. Returns null if there is no memory for it.
  double* AddRow() { return AddRows(1).data(); }

  // Adds at least one and at most `row_count` new rows: as many as fit in one
  // block. Returns an empty span if there is no memory for one row; the earlier
  // rows stay.
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

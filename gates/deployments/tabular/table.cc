#include "footprint/gates/deployments/tabular/table.h"

#include <algorithm>
#include <cstdio>

namespace footprint {
namespace tabular {

Table::Table(size_t column_count)
    : column_count_(column_count),
      rows_per_block_(
          std::max<size_t>(1, kBlockBytes / (column_count * sizeof(double)))) {}

Table Table::OverNumbers(const double* numbers, size_t row_count,
                         size_t column_count, std::function<void()> release) {
  Table table(column_count);
  table.row_count_ = row_count;
  table.rows_per_block_ = std::max<size_t>(1, row_count);
  table.blocks_.push_back(numbers);
  table.release_ = std::move(release);
  return table;
}

Table& Table::operator=(Table&& other) noexcept {
  if (this == &other) return *this;
  Clear();
  row_count_ = std::exchange(other.row_count_, 0);
  column_count_ = std::exchange(other.column_count_, 1);
  rows_per_block_ = std::exchange(other.rows_per_block_, 1);
  blocks_ = std::exchange(other.blocks_, {});
  owned_blocks_ = std::exchange(other.owned_blocks_, {});
  release_ = std::exchange(other.release_, nullptr);
  return *this;
}

void Table::Clear() {
  if (release_) release_();
  release_ = nullptr;
  row_count_ = 0;
  column_count_ = 1;
  rows_per_block_ = 1;
  // Assigning {} would keep the capacity.
  std::vector<const double*>().swap(blocks_);
  std::vector<std::unique_ptr<double, Free>>().swap(owned_blocks_);
}

TableBuilder::TableBuilder(size_t column_count, size_t expected_row_count)
    : table_(column_count), expected_row_count_(expected_row_count) {
  const size_t block_count = (expected_row_count + table_.rows_per_block_ - 1) /
                             table_.rows_per_block_;
  table_.blocks_.reserve(block_count);
  table_.owned_blocks_.reserve(block_count);
}

void TableBuilder::ResizeLastBlock(size_t row_capacity) {
  const size_t bytes = row_capacity * table_.column_count_ * sizeof(double);
  // realloc rather than a copy: a block is cut, and mostly grows, in place.
  void* block = std::realloc(table_.owned_blocks_.back().release(), bytes);
  if (block == nullptr) {
    std::fprintf(stderr, "out of memory: a table needs %zu bytes more\n",
                 bytes);
    std::abort();
  }
  table_.owned_blocks_.back().reset(static_cast<double*>(block));
  table_.blocks_.back() = table_.owned_blocks_.back().get();
  last_block_capacity_ = row_capacity;
}

absl::Span<double> TableBuilder::AddRows(size_t row_count) {
  const size_t row_in_block = table_.row_count_ % table_.rows_per_block_;
  if (row_in_block == 0) {
    table_.owned_blocks_.emplace_back();
    table_.blocks_.push_back(nullptr);
    const size_t expected_rows = expected_row_count_ > table_.row_count_
                                     ? expected_row_count_ - table_.row_count_
                                     : table_.rows_per_block_;
    ResizeLastBlock(std::min(table_.rows_per_block_, expected_rows));
  } else if (row_in_block == last_block_capacity_) {
    ResizeLastBlock(table_.rows_per_block_);
  }
  const size_t added = std::min(row_count, last_block_capacity_ - row_in_block);
  table_.row_count_ += added;
  return {
      table_.owned_blocks_.back().get() + row_in_block * table_.column_count_,
      added * table_.column_count_};
}

Table TableBuilder::Build() && {
  const size_t rows_in_last = table_.row_count_ % table_.rows_per_block_;
  if (rows_in_last != 0 && rows_in_last != last_block_capacity_) {
    ResizeLastBlock(rows_in_last);
  }
  return std::move(table_);
}

}  // namespace tabular
}  // namespace footprint

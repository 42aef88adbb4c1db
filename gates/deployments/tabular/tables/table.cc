#include "footprint/gates/deployments/tabular/tables/table.h"

#include <algorithm>

namespace footprint {
namespace tabular {
namespace {

// Blocks for which a builder reserves room in advance. They hold 4 GiB, and
// their pointers 1 MiB. Room for more is made when rows come, since a small
// file can promise any number of rows.
constexpr size_t kMostReservedBlocks = 64 << 10;

}  // namespace

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

Table Table::FirstRows(size_t row_count) const {
  Table rows(column_count_);
  rows.row_count_ = std::min(row_count, row_count_);
  rows.rows_per_block_ = rows_per_block_;
  rows.blocks_ = blocks_;
  return rows;
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
  const size_t block_count = std::min(
      kMostReservedBlocks, (expected_row_count + table_.rows_per_block_ - 1) /
                               table_.rows_per_block_);
  table_.blocks_.reserve(block_count);
  table_.owned_blocks_.reserve(block_count);
}

bool TableBuilder::ResizeLastBlock(size_t row_capacity) {
  const size_t bytes = row_capacity * table_.column_count_ * sizeof(double);
  // realloc shrinks a block in place, and mostly grows it in place, without a
  // copy.
  std::unique_ptr<double, Table::Free>& last = table_.owned_blocks_.back();
  void* block = std::realloc(last.get(), bytes);
  if (block == nullptr) {
    refused_bytes_ = bytes;
    return false;
  }
  static_cast<void>(last.release());
  last.reset(static_cast<double*>(block));
  table_.blocks_.back() = last.get();
  last_block_capacity_ = row_capacity;
  return true;
}

absl::Span<double> TableBuilder::AddRows(size_t row_count) {
  const size_t row_in_block = table_.row_count_ % table_.rows_per_block_;
  if (row_in_block == 0) {
    table_.owned_blocks_.emplace_back();
    table_.blocks_.push_back(nullptr);
    const size_t expected_rows = expected_row_count_ > table_.row_count_
                                     ? expected_row_count_ - table_.row_count_
                                     : table_.rows_per_block_;
    if (!ResizeLastBlock(std::min(table_.rows_per_block_, expected_rows))) {
      table_.owned_blocks_.pop_back();
      table_.blocks_.pop_back();
      return {};
    }
  } else if (row_in_block == last_block_capacity_) {
    if (!ResizeLastBlock(table_.rows_per_block_)) return {};
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
    // If realloc fails, the block keeps its size.
    ResizeLastBlock(rows_in_last);
  }
  return std::move(table_);
}

}  // namespace tabular
}  // namespace footprint

// Columns of text for terminals: words begin at the left of their column,
// figures end at its right.
//
//   TextTable table({{"network"}, {"bytes", TextTable::kFigures, 11}});
//   std::cout << table.Headings() << table.Row({"LeNet-5", "10485760"});
//
// A row is written as soon as it is known; columns are as wide as their
// headings, the width they were given and what Fit has seen. A cell that is
// wider pushes the rest of its row. Characters are counted as bytes.
//
// Thread-compatible. Memory: the headings, which it owns; cells are only read.

#ifndef FOOTPRINT_BASE_TEXT_TEXT_TABLE_H_
#define FOOTPRINT_BASE_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace footprint {

class TextTable {
 public:
  enum Alignment { kWords, kFigures };
  struct Column {
    std::string heading;
    Alignment alignment = kWords;
    size_t width = 0;  // at least
  };

  // `gap` spaces part the columns.
  explicit TextTable(std::vector<Column> columns, size_t gap = 2);

  // Makes the columns wide enough for these cells.
  void Fit(absl::Span<const std::string> cells);

  // A line each, with its newline; one cell for each column. No blanks stand
  // at a line's end.
  std::string Headings() const;
  std::string Row(absl::Span<const std::string> cells) const;

 private:
  std::vector<Column> columns_;
  size_t gap_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_TEXT_TABLE_H_

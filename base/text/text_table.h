// Columns of text for terminals: words are aligned to the left of their column,
// figures to the right.
//
//   TextTable table({{"network"}, {"bytes", TextTable::kFigures, 11}});
//   std::cout << table.Headings() << table.Row({"LeNet-5", "10485760"});
//
// A row is written as soon as it is known. A column is as wide as its heading,
// its given width, and the cells that Fit has seen. A wider cell pushes the
// rest of its row. Width is counted in bytes.
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
    size_t width = 0;  // the least width
  };

  // `gap` spaces separate the columns.
  explicit TextTable(std::vector<Column> columns, size_t gap = 2);

  // Makes the columns wide enough for these cells, of which there must be one
  // for each column.
  void Fit(absl::Span<const std::string> cells);

  // Return a line each, with its newline. There must be one cell for each
  // column. A line has no blanks at its end.
  std::string Headings() const;
  std::string Row(absl::Span<const std::string> cells) const;

 private:
  std::vector<Column> columns_;
  size_t gap_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_TEXT_TABLE_H_

#include "footprint/base/text/text_table.h"

#include <algorithm>
#include <utility>

namespace footprint {

TextTable::TextTable(std::vector<Column> columns, size_t gap)
    : columns_(std::move(columns)), gap_(gap) {
  for (Column& column : columns_) {
    column.width = std::max(column.width, column.heading.size());
  }
}

void TextTable::Fit(absl::Span<const std::string> cells) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].width = std::max(columns_[i].width, cells[i].size());
  }
}

std::string TextTable::Headings() const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  return Row(headings);
}

std::string TextTable::Row(absl::Span<const std::string> cells) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const size_t padding =
        column.width - std::min(column.width, cells[i].size());
    if (i > 0) line.append(gap_, ' ');
    if (column.alignment == kFigures) line.append(padding, ' ');
    line += cells[i];
    const bool is_last = i + 1 == columns_.size();
    if (column.alignment == kWords && !is_last) line.append(padding, ' ');
  }
  // An empty last cell must not leave blanks behind.
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace footprint

#include "footprint/profiling/symbols/python_lines.h"

#include <cstddef>
#include <cstdint>

namespace footprint {
namespace {

// Kinds of entries; lower kinds are short forms that stay on the same line.
constexpr int kFirstOneLineForm = 10;
constexpr int kNoColumns = 13;
constexpr int kLong = 14;
constexpr int kNoLocation = 15;

class TableReader {
 public:
  explicit TableReader(absl::string_view table) : table_(table) {}

  bool IsAtEnd() const { return at_ >= table_.size(); }
  bool is_damaged() const { return is_damaged_; }

  uint8_t Byte() {
    if (IsAtEnd()) {
      is_damaged_ = true;
      return 0;
    }
    return static_cast<uint8_t>(table_[at_++]);
  }

  // Reads six bits a byte, the lowest first; bit 6 says that more follow.
  int64_t Unsigned() {
    int64_t value = 0;
    for (int shift = 0; shift < 60; shift += 6) {
      const uint8_t byte = Byte();
      value |= int64_t{byte & 63} << shift;
      if ((byte & 64) == 0) return value;
    }
    is_damaged_ = true;
    return 0;
  }

  // Reads a signed number, whose lowest bit is the sign.
  int64_t Signed() {
    const int64_t value = Unsigned();
    return (value & 1) != 0 ? -(value >> 1) : value >> 1;
  }

 private:
  const absl::string_view table_;
  size_t at_ = 0;
  bool is_damaged_ = false;
};

// Returns how far the line moves, and reads the entry to its end.
int64_t ReadLineDelta(int kind, TableReader* table) {
  int64_t delta = 0;
  switch (kind) {
    case kNoLocation:
      break;
    case kLong:
      delta = table->Signed();
      for (int i = 0; i < 3; ++i) table->Unsigned();
      break;
    case kNoColumns:
      delta = table->Signed();
      break;
    default:
      table->Byte();
      if (kind < kFirstOneLineForm) break;
      delta = kind - kFirstOneLineForm;
      table->Byte();
  }
  return delta;
}

}  // namespace

int FindPythonLine(absl::string_view line_table, int first_line,
                   int instruction) {
  if (instruction < 0) return first_line;
  TableReader table(line_table);
  int64_t line = first_line;
  int64_t end = 0;
  while (!table.IsAtEnd()) {
    const uint8_t head = table.Byte();
    const int kind = head >> 3 & 15;
    // Only the first byte of an entry has the highest bit set.
    if ((head & 128) == 0) return 0;
    line += ReadLineDelta(kind, &table);
    if (table.is_damaged() || line < INT32_MIN || line > INT32_MAX) return 0;
    end += (head & 7) + 1;
    if (instruction < end) {
      return kind == kNoLocation || line < 0 ? 0 : static_cast<int>(line);
    }
  }
  return 0;
}

}  // namespace footprint

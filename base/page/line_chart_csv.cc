#include "footprint/base/page/line_chart_csv.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/csv_parser.h"

namespace footprint {
namespace {

constexpr const char* kHeader[] = {"line", "x", "y", "label"};
constexpr size_t kColumnCount = 4;

class LineReader {
 public:
  LineReader(absl::string_view name, absl::string_view text)
      : fields_(name, text) {}

  absl::StatusOr<std::vector<LineChart::Line>> Read() {
    absl::Status status = ReadHeader();
    while (status.ok() && fields_.Next()) status = ReadPoint();
    if (status.ok()) status = fields_.status();
    if (!status.ok()) return status;
    return std::move(lines_);
  }

 private:
  absl::Status Error(absl::string_view message) const {
    if (!fields_.status().ok()) return fields_.status();
    return absl::InvalidArgumentError(
        absl::StrCat(fields_.Place(), ": ", message));
  }

  absl::Status ReadHeader() {
    for (size_t i = 0; i < kColumnCount; ++i) {
      if (!fields_.Next() || fields_.text() != kHeader[i] || !IsAt(i)) {
        return Error("the header should be \"line,x,y,label\"");
      }
    }
    return absl::OkStatus();
  }

  // Whether a row ends behind its last field and nowhere else.
  bool IsAt(size_t column) const {
    return fields_.is_last_in_record() == (column + 1 == kColumnCount);
  }

  // From the row's first field on.
  absl::Status ReadPoint() {
    const std::string name(fields_.text());
    double numbers[2];
    for (double& number : numbers) {
      if (fields_.is_last_in_record() || !fields_.Next()) {
        return Error("the row should have 4 fields");
      }
      if (!absl::SimpleAtod(fields_.text(), &number) ||
          !std::isfinite(number)) {
        return Error(
            absl::StrCat("\"", fields_.text(), "\" should be a number"));
      }
    }
    if (fields_.is_last_in_record() || !fields_.Next() || !IsAt(3)) {
      return Error("the row should have 4 fields");
    }
    LineChart::Line& line = LineOf(name);
    line.points.emplace_back(numbers[0], numbers[1]);
    line.labels.emplace_back(fields_.text());
    return absl::OkStatus();
  }

  LineChart::Line& LineOf(const std::string& name) {
    const auto known = std::find_if(
        lines_.begin(), lines_.end(),
        [&](const LineChart::Line& line) { return line.name == name; });
    if (known != lines_.end()) return *known;
    lines_.emplace_back();
    lines_.back().name = name;
    return lines_.back();
  }

  CsvParser fields_;
  std::vector<LineChart::Line> lines_;
};

}  // namespace

absl::StatusOr<std::vector<LineChart::Line>> ParseChartLines(
    absl::string_view name, absl::string_view text) {
  return LineReader(name, text).Read();
}

}  // namespace footprint

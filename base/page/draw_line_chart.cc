// Draws a line chart of what stands on the standard input, as an SVG file:
//
//   draw_line_chart --title=Throughput --x_label=peak --y_label="passes a
//   second"
//       --bytes_on_x=true <points.csv >picture.svg
//
// The points are those of line_chart_csv.h. The y axis may begin above zero.
// With
// --bytes_on_x=true the x axis has powers of two. Exit status 2: a mistake in
// the flags or the points, which the standard error names.

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/line_chart_csv.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/take_flags.h"

namespace footprint {
namespace {

absl::Status TakeChartFlags(int argc, char** argv, LineChart* chart) {
  using Text = absl::string_view;
  const auto keep = [](std::string* text) {
    return [=](Text value) {
      *text = std::string(value);
      return absl::OkStatus();
    };
  };
  const absl::Status status =
      TakeFlags(&argc, argv,
                {{"--title", keep(&chart->title)},
                 {"--description", keep(&chart->description)},
                 {"--x_label", keep(&chart->x_label)},
                 {"--y_label", keep(&chart->y_label)},
                 {"--bytes_on_x", [&](Text value) {
                    if (absl::SimpleAtob(value, &chart->has_bytes_x)) {
                      return absl::OkStatus();
                    }
                    return absl::InvalidArgumentError(
                        "--bytes_on_x=: write true or false");
                  }}});
  if (!status.ok() || argc < 2) return status;
  return absl::InvalidArgumentError(absl::StrCat("unknown flag ", argv[1]));
}

absl::Status Draw(int argc, char** argv) {
  LineChart chart;
  const absl::Status status = TakeChartFlags(argc, argv, &chart);
  if (!status.ok()) return status;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  absl::StatusOr<std::vector<LineChart::Line>> lines =
      ParseChartLines("standard input", text);
  if (!lines.ok()) return lines.status();
  chart.lines = *std::move(lines);
  chart.may_leave_zero_out = true;
  chart.has_logarithmic_x = chart.has_bytes_x;
  if (chart.has_bytes_x) chart.format_x = AbbreviateBytes;
  const std::string svg = LineChartSvg(chart);
  if (std::fwrite(svg.data(), 1, svg.size(), stdout) != svg.size() ||
      std::fflush(stdout) != 0) {
    return absl::ResourceExhaustedError("the picture cannot be written");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const absl::Status status = footprint::Draw(argc, argv);
  if (status.ok()) return 0;
  std::cerr << "draw_line_chart: " << std::string(status.message()) << "\n";
  return 2;
}

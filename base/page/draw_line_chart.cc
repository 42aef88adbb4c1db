// Draws a line chart from JSON on standard input, as an SVG file on standard
// output:
//
//   {"title": "Throughput", "description": "of three rounds",
//    "x_label": "peak", "y_label": "passes a second", "bytes_on_x": true,
//    "lines": [{"name": "streamed", "points": [[4194304, 190, "1 MiB"]]}]}
//
// A point is x, y and its label, which may be empty. The y axis may begin above
// zero. An x axis of bytes has powers of two. The exit status is 2 if the JSON
// has another form, 1 if the picture cannot be written.

#include <iostream>
#include <string>

#include "footprint/base/page/line_chart.h"
#include "footprint/base/text/format_bytes.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& json) { return json.get<std::string>(); }
double Number(const Json& json) { return json.get<double>(); }

LineChart ReadChart(const Json& json) {
  LineChart chart;
  chart.title = Text(json.at("title"));
  chart.description = Text(json.at("description"));
  chart.x_label = Text(json.at("x_label"));
  chart.y_label = Text(json.at("y_label"));
  chart.has_bytes_x = json.at("bytes_on_x").get<bool>();
  chart.has_logarithmic_x = chart.has_bytes_x;
  if (chart.has_bytes_x) chart.format_x = AbbreviateBytes;
  chart.may_leave_zero_out = true;
  for (const Json& line : json.at("lines")) {
    chart.lines.emplace_back();
    chart.lines.back().name = Text(line.at("name"));
    for (const Json& point : line.at("points")) {
      chart.lines.back().points.emplace_back(Number(point.at(0)),
                                             Number(point.at(1)));
      chart.lines.back().labels.push_back(Text(point.at(2)));
    }
  }
  return chart;
}

}  // namespace
}  // namespace footprint

int main() {
  try {
    const auto json = footprint::Json::parse(std::cin);
    std::cout << LineChartSvg(footprint::ReadChart(json)) << std::flush;
  } catch (const footprint::Json::exception& error) {
    std::cerr << "draw_line_chart: " << error.what() << "\n";
    return 2;
  }
  return std::cout ? 0 : 1;
}

#include "footprint/trainer_manager/layout_picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace footprint {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 600;

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Steps and bytes to the picture's units.
class Scale {
 public:
  Scale(absl::Span<const TensorRequest> requests, const MemoryPlan& plan)
      : height_(static_cast<double>(std::max<int64_t>(1, plan.height_bytes))) {
    if (requests.empty()) return;
    double last = static_cast<double>(requests[0].upper_step);
    first_ = static_cast<double>(requests[0].lower_step);
    for (const TensorRequest& request : requests) {
      first_ = std::min(first_, static_cast<double>(request.lower_step));
      last = std::max(last, static_cast<double>(request.upper_step));
    }
    steps_ = last - first_;
  }

  double X(int64_t step) const {
    return (static_cast<double>(step) - first_) / steps_ * kWidth;
  }
  double Y(int64_t bytes) const {
    return kHeight - static_cast<double>(bytes) / height_ * kHeight;
  }

 private:
  double height_;
  double first_ = 0;
  double steps_ = 1;
};

void AppendBox(const TensorRequest& request, int64_t offset_bytes,
               bool is_in_certificate, size_t index, const Scale& scale,
               std::string* svg) {
  const double x = scale.X(request.lower_step);
  const double y = scale.Y(offset_bytes + request.size_bytes);
  // Hues a golden angle apart: neighbours in the list differ most.
  absl::StrAppendFormat(
      svg,
      "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
      "fill=\"hsl(%d,55%%,60%%)\"%s><title>",
      x, y, scale.X(request.upper_step) - x, scale.Y(offset_bytes) - y,
      static_cast<int>(index * 137 % 360),
      is_in_certificate ? " class=\"peak\"" : "");
  absl::StrAppend(svg, Escape(request.id), ": ", request.size_bytes,
                  " bytes at ", offset_bytes, ", steps ", request.lower_step,
                  " until before ", request.upper_step, "</title></rect>\n");
}

std::string Svg(absl::Span<const TensorRequest> requests,
                const MemoryPlan& plan) {
  const Scale scale(requests, plan);
  std::string svg = absl::StrFormat(
      "<svg role=\"img\" viewBox=\"-2 -2 %.0f %.0f\" "
      "aria-label=\"Boxes of tensors over steps and bytes\">\n",
      kWidth + 4, kHeight + 4);
  std::vector<bool> is_in_certificate(requests.size(), false);
  for (const size_t i : plan.lower_bound.tensors) is_in_certificate[i] = true;
  for (size_t i = 0; i < requests.size(); ++i) {
    AppendBox(requests[i], plan.offsets_bytes[i], is_in_certificate[i], i,
              scale, &svg);
  }
  const double bound = scale.Y(plan.lower_bound.bytes);
  const double step = requests.empty() ? 0 : scale.X(plan.lower_bound.step);
  absl::StrAppendFormat(
      &svg,
      "<line class=\"bound\" x1=\"0\" x2=\"%.0f\" y1=\"%.2f\" y2=\"%.2f\"/>\n"
      "<line class=\"bound\" x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%.0f\"/>\n"
      "</svg>\n",
      kWidth, bound, bound, step, step, kHeight);
  return svg;
}

constexpr char kStyle[] =
    "<style>:root{color-scheme:light dark}"
    "body{font:16px/1.5 sans-serif;max-width:75rem;margin:2rem auto;"
    "padding:0 1rem}"
    "svg{width:100%;border:1px solid #888}"
    "rect{stroke:#fff;stroke-width:.5}rect.peak{stroke:#000;stroke-width:1.2}"
    "rect:hover{opacity:.7}"
    ".bound{stroke:#c00;stroke-dasharray:6 4;pointer-events:none}</style>\n";

}  // namespace

std::string DrawPlan(absl::Span<const TensorRequest> requests,
                     const MemoryPlan& plan, absl::string_view title) {
  const std::string name = Escape(title);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>",
      name, "</title>\n", kStyle, "</head><body>\n<h1>", name, "</h1>\n<p>",
      requests.size(), " tensors need ", plan.height_bytes,
      " bytes; no plan needs less than ", plan.lower_bound.bytes,
      ", for the outlined tensors are live together at step ",
      plan.lower_bound.step,
      " (dashed). Steps go to the right, bytes upwards.</p>\n",
      Svg(requests, plan), "</body></html>\n");
}

}  // namespace footprint

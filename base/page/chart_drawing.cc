#include "footprint/base/page/chart_drawing.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::page_internal {

std::string Length(double value) { return absl::StrFormat("%.2f", value); }

std::string Percent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent > 99 && percent < 100) return ">99 %";
  return absl::StrFormat("%.0f %%", percent);
}

std::string Caption(const std::string& title, const std::string& description) {
  std::string html =
      absl::StrCat("<figcaption>", EscapeForXml(title), "</figcaption>\n");
  if (!description.empty()) {
    absl::StrAppend(&html, "<p class=\"about\">", EscapeForXml(description),
                    "</p>\n");
  }
  return html;
}

std::string Legend(const std::vector<std::string>& names, size_t first_colour) {
  std::string html = "<ul class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&html, "<li><span class=\"key\" style=\"background:var(--c",
                    (first_colour + i) % kColourCount, ")\"></span>",
                    EscapeForXml(names[i]), "</li>");
  }
  return html + "</ul>\n";
}

std::string SvgText(double x, double y, const char* anchor,
                    const std::string& text) {
  return absl::StrCat("<text x=\"", Length(x), "\" y=\"", Length(y),
                      "\" text-anchor=\"", anchor, "\">", EscapeForXml(text),
                      "</text>\n");
}

void Axis::Include(double value) {
  if (!Shows(value)) return;
  low_ = std::min(low_, Scaled(value));
  high_ = std::max(high_, Scaled(value));
}

void Axis::Fit() {
  if (low_ > high_) low_ = high_ = 0;
  if (high_ <= low_) high_ = low_ + 1;
}

void Axis::Round() {
  if (low_ > high_) low_ = high_ = 0;
  if (is_logarithmic_) {
    low_ = std::floor(low_ + 1e-9);
    high_ = std::ceil(high_ - 1e-9);
  } else {
    low_ = std::min(low_, 0.0);
  }
  if (high_ <= low_) high_ = low_ + 1;
}

double Axis::Place(double value) const {
  return start_ + (end_ - start_) * (Scaled(value) - low_) / (high_ - low_);
}

std::vector<double> Axis::Ticks(int count) const {
  std::vector<double> ticks;
  const double step = Step(count);
  const double first = std::ceil(low_ / step - 1e-9) * step;
  for (int i = 0; first + i * step <= high_ + 1e-9 * step; ++i) {
    const double scaled = first + i * step;
    ticks.push_back(is_logarithmic_ ? std::pow(10, scaled) : scaled);
  }
  return ticks;
}

double Axis::Scaled(double value) const {
  return is_logarithmic_ ? std::log10(value) : value;
}

double Axis::Step(int count) const {
  const double wanted = (high_ - low_) / count;
  if (is_logarithmic_) return std::max(1.0, std::ceil(wanted));
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= wanted) return factor * power;
  }
  return 10 * power;
}

}  // namespace footprint::page_internal

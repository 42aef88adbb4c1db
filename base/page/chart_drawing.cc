#include "footprint/base/page/chart_drawing.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::page_internal {

// Colours that colour-blind readers can distinguish, on light and on dark. The
// colour of the text on each is chosen for contrast.
const char kChartColours[] = R"css(
:root { color-scheme: light dark;
  --paper: #fcfcfb; --ink: #16181d; --soft: #5c626e; --rule: #d9dbe0;
  --wash: #f1f2f4; --accent: #1f5fb4;
  --c0: #2a78d6; --c1: #eda100; --c2: #1baf7a; --c3: #4a3aa7; --c4: #e34948;
  --c5: #7b8494; --c6: #eb6834; --c7: #c2569a;
  --t0: #fff; --t1: #16181d; --t2: #16181d; --t3: #fff; --t4: #fff;
  --t5: #fff; --t6: #16181d; --t7: #fff; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15171b; --ink: #eceef1; --soft: #a3a9b5; --rule: #363a43;
  --wash: #1f2228; --accent: #7fb2f5;
  --c0: #3987e5; --c1: #c98500; --c2: #199e70; --c3: #9085e9; --c4: #e66767;
  --c5: #8d95a5; --c6: #d95926; --c7: #d55181;
  --t0: #fff; --t1: #0c0d10; --t2: #0c0d10; --t3: #0c0d10; --t4: #0c0d10;
  --t5: #0c0d10; --t6: #0c0d10; --t7: #0c0d10; } }
)css";

const char kChartStyle[] = R"css(
svg text { font-size: 13px; fill: var(--soft); }
svg .grid { stroke: var(--rule); }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .point { stroke: var(--paper); stroke-width: 2; }
svg .box { stroke: var(--paper); stroke-width: .75; }
svg .pale { fill-opacity: .4; }
svg .marked { stroke: var(--ink); stroke-width: 1; }
svg .thin { stroke: none; }
svg .box:hover { fill-opacity: .75; }
svg .inside { font-size: 11px; pointer-events: none; fill: var(--ink); }
svg .level { stroke: var(--c4); stroke-width: 1.5; stroke-dasharray: 6 4;
  pointer-events: none; }
svg .live { fill: var(--c5); }
svg .span { fill: none; stroke: var(--soft); pointer-events: none; }
)css";

std::string Length(double value) { return absl::StrFormat("%.2f", value); }

std::string Percent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent > 99 && percent < 100) return ">99 %";
  return absl::StrFormat("%.0f %%", percent);
}

std::string ScriptText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : EscapeForTerminal(text)) {
    if (c == '<') {
      quoted += "\\u003c";  // so no </script> and no <!--
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
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
    if (names[i].empty()) continue;
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

void Axis::RoundClosely() {
  if (is_logarithmic_ || low_ > high_ || low_ <= high_ / 2) return Round();
  const double margin = 0.15 * std::max(high_ - low_, 0.01 * high_);
  low_ -= margin;
  high_ += margin;
  const double step = Step(8);
  low_ = std::floor(low_ / step) * step;
  high_ = std::ceil(high_ / step) * step;
}

double Axis::ToPixel(double value) const {
  return start_ + (end_ - start_) * (Scaled(value) - low_) / (high_ - low_);
}

std::vector<double> Axis::Ticks(int count) const {
  std::vector<double> ticks;
  const double step = Step(count);
  const double first = std::ceil(low_ / step - 1e-9) * step;
  for (int i = 0; first + i * step <= high_ + 1e-9 * step; ++i) {
    const double scaled = first + i * step;
    ticks.push_back(is_logarithmic_ ? std::pow(base_, scaled) : scaled);
  }
  return ticks;
}

double Axis::Scaled(double value) const {
  if (!is_logarithmic_) return value;
  return base_ == 2 ? std::log2(value) : std::log10(value);
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

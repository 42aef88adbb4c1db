#include "footprint/profiling/page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace footprint {
namespace {

constexpr size_t kColourCount = 8;

// Colours that stay apart for colour-blind readers, on light and on dark; the
// text on each is chosen for contrast.
constexpr char kStyle[] = R"css(
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
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem;
  letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
p { max-width: 42rem; margin: 0 0 .9rem; }
.lead { color: var(--soft); font-size: 1.05rem; margin-bottom: 1.75rem; }
pre { background: var(--wash); padding: .75rem 1rem; overflow-x: auto;
  border-radius: 6px; font-size: .875rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
.plain th, .plain td { padding: .3rem .9rem .3rem 0; text-align: right;
  border-bottom: 1px solid var(--rule); white-space: nowrap; }
.plain .text { text-align: left; }
.plain thead th { color: var(--soft); font-weight: 500; }
.plain tbody th { font-weight: 400; }
figure { margin: 1.25rem 0 .75rem; }
figcaption { font-weight: 600; margin-bottom: .15rem; }
.about { color: var(--soft); font-size: .9rem; margin: 0 0 .6rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem;
  margin: 0 0 .75rem; padding: 0; font-size: .875rem; }
.key { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem;
  border-radius: 2px; vertical-align: -.06rem; }
.bars { width: 100%; }
.bars th { text-align: left; font-weight: 400; white-space: nowrap;
  padding: .16rem .9rem .16rem 0; width: 1%; }
.bars td { padding: .16rem 0; }
.bars .total { text-align: right; white-space: nowrap; width: 1%;
  padding-left: .9rem; color: var(--soft); }
.bar { display: flex; gap: 2px; height: 1.35rem; }
.part { min-width: 0; overflow: hidden; font-size: .75rem; line-height: 1.35rem;
  text-align: center; white-space: nowrap; border-radius: 2px; }
@media (max-width: 40rem) {
  .bars tr { display: grid; grid-template-columns: 1fr auto; }
  .bars td:nth-child(2) { grid-column: 1 / 3; grid-row: 2;
    padding-bottom: .5rem; }
  .bars th, .bars .total { width: auto; padding-bottom: 0; }
  .small { visibility: hidden; } }
svg { display: block; width: 100%; min-width: 34rem; height: auto; }
svg text { font-size: 13px; fill: var(--soft); }
svg .grid { stroke: var(--rule); }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .point { stroke: var(--paper); stroke-width: 2; }
svg .box { stroke: var(--paper); stroke-width: .75; }
svg .pale { fill-opacity: .4; }
svg .marked { stroke: var(--ink); stroke-width: 1; }
svg .box:hover { fill-opacity: .75; }
svg .inside { font-size: 11px; pointer-events: none; fill: var(--ink); }
svg .level { stroke: var(--c4); stroke-width: 1.5; stroke-dasharray: 6 4;
  pointer-events: none; }
svg .live { fill: var(--c5); }
details { margin: 0 0 1.5rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
.views { border: 0; margin: 1.5rem 0 0; padding: 0; min-width: 0; }
.views > legend { padding: 0; margin-bottom: .4rem; color: var(--soft);
  font-size: .875rem; }
.views > input { position: absolute; opacity: 0; }
.views > label { display: inline-block; cursor: pointer; font-size: .9rem;
  padding: .25rem .8rem; margin: 0 .3rem .4rem 0; border-radius: 999px;
  border: 1px solid var(--rule); }
.views > input:checked + label { background: var(--ink); color: var(--paper);
  border-color: var(--ink); }
.views > input:focus-visible + label { outline: 2px solid var(--accent);
  outline-offset: 2px; }
.view { display: none; }
@media print { .view { display: block; } }
)css";

// Stand for the name of a group of views until the whole page is known: a
// group may lie in another, and be added twice.
constexpr char kGroupBegin[] = "\x01";
constexpr char kGroupName[] = "\x02";
constexpr char kGroupEnd[] = "\x03";

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {kGroupBegin, ""},
                                    {kGroupName, ""},
                                    {kGroupEnd, ""},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"}});
}

std::string NameGroups(const std::string& html) {
  std::string named;
  std::vector<int> open_groups;
  int group_count = 0;
  for (const char byte : html) {
    if (byte == kGroupBegin[0]) {
      open_groups.push_back(++group_count);
    } else if (byte == kGroupEnd[0]) {
      open_groups.pop_back();
    } else if (byte == kGroupName[0]) {
      absl::StrAppend(&named, "views", open_groups.back());
    } else {
      named += byte;
    }
  }
  return named;
}

// A length or share for HTML and SVG: short, and the same in every locale.
std::string Length(double value) { return absl::StrFormat("%.2f", value); }

std::string Percent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1) return "<1 %";
  return absl::StrFormat("%.0f %%", percent);
}

std::string Caption(const std::string& title, const std::string& description) {
  std::string html =
      absl::StrCat("<figcaption>", Escape(title), "</figcaption>\n");
  if (!description.empty()) {
    absl::StrAppend(&html, "<p class=\"about\">", Escape(description),
                    "</p>\n");
  }
  return html;
}

std::string Legend(const std::vector<std::string>& names) {
  std::string html = "<ul class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&html, "<li><span class=\"key\" style=\"background:var(--c",
                    i % kColourCount, ")\"></span>", Escape(names[i]), "</li>");
  }
  return html + "</ul>\n";
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// One part of a bar; `width` is its share of the full width.
std::string Part(const std::string& name, const std::string& value,
                 double share, double width, size_t colour) {
  constexpr double kLeastWidthOfText = 0.06;
  constexpr double kLeastWidthOfTextOnTelephone = 0.12;
  std::string text;
  if (width >= kLeastWidthOfText) {
    text = width < kLeastWidthOfTextOnTelephone
               ? absl::StrCat("<span class=\"small\">", Escape(Percent(share)),
                              "</span>")
               : Escape(Percent(share));
  }
  colour %= kColourCount;
  return absl::StrCat(
      "<span class=\"part\" style=\"flex:0 1 ", Length(100 * width),
      "%;background:var(--c", colour, ");color:var(--t", colour, ")\" title=\"",
      Escape(absl::StrCat(name, ": ", value, " (", Percent(share), ")")), "\">",
      text, "</span>");
}

std::string BarRow(const StackedBars& chart, const StackedBars::Bar& bar,
                   double full_width) {
  const double total = Sum(bar.values);
  std::string words;
  std::string parts;
  for (size_t i = 0; i < bar.values.size() && i < chart.series.size(); ++i) {
    const double value = bar.values[i];
    if (!(value > 0)) continue;
    const std::string text = chart.format(value);
    absl::StrAppend(&words, words.empty() ? "" : ", ", chart.series[i], " ",
                    text, " (", Percent(value / total), ")");
    absl::StrAppend(&parts, Part(chart.series[i], text, value / total,
                                 value / full_width, i));
  }
  return absl::StrCat("<tr><th scope=\"row\">", Escape(bar.label),
                      "</th><td><div class=\"bar\" role=\"img\" aria-label=\"",
                      Escape(words.empty() ? "nothing" : words), "\">", parts,
                      "</div></td><td class=\"total\">",
                      Escape(chart.format(total)), "</td></tr>\n");
}

// Where data lie in an SVG picture.
class Axis {
 public:
  Axis(bool is_logarithmic, double start, double end)
      : is_logarithmic_(is_logarithmic), start_(start), end_(end) {}

  bool Shows(double value) const { return !is_logarithmic_ || value > 0; }

  void Include(double value) {
    if (!Shows(value)) return;
    low_ = std::min(low_, Scaled(value));
    high_ = std::max(high_, Scaled(value));
  }

  // After the last Include, the ends as they are.
  void Fit() {
    if (low_ > high_) low_ = high_ = 0;
    if (high_ <= low_) high_ = low_ + 1;
  }

  // After the last Include: whole powers of ten, or from zero on.
  void Round() {
    if (low_ > high_) low_ = high_ = 0;
    if (is_logarithmic_) {
      low_ = std::floor(low_ + 1e-9);
      high_ = std::ceil(high_ - 1e-9);
    } else {
      low_ = std::min(low_, 0.0);
    }
    if (high_ <= low_) high_ = low_ + 1;
  }

  double Place(double value) const {
    return start_ + (end_ - start_) * (Scaled(value) - low_) / (high_ - low_);
  }

  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    const double step = Step();
    const double first = std::ceil(low_ / step - 1e-9) * step;
    for (int i = 0; first + i * step <= high_ + 1e-9 * step; ++i) {
      const double scaled = first + i * step;
      ticks.push_back(is_logarithmic_ ? std::pow(10, scaled) : scaled);
    }
    return ticks;
  }

 private:
  double Scaled(double value) const {
    return is_logarithmic_ ? std::log10(value) : value;
  }

  // 1, 2 or 5 times a power of ten, for about five ticks.
  double Step() const {
    const double wanted = (high_ - low_) / 5;
    if (is_logarithmic_) return std::max(1.0, std::ceil(wanted));
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= wanted) return factor * power;
    }
    return 10 * power;
  }

  const bool is_logarithmic_;
  const double start_;
  const double end_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

constexpr double kWidth = 760;
constexpr double kHeight = 360;
constexpr double kLeft = 84;
constexpr double kRight = 40;
constexpr double kTop = 30;
constexpr double kBottom = 52;

std::string FormatWith(const std::function<std::string(double)>& format,
                       double value) {
  return format ? format(value) : absl::StrFormat("%g", value);
}

std::string SvgText(double x, double y, const char* anchor,
                    const std::string& text) {
  return absl::StrCat("<text x=\"", Length(x), "\" y=\"", Length(y),
                      "\" text-anchor=\"", anchor, "\">", Escape(text),
                      "</text>\n");
}

std::string SvgGrid(const LineChart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  for (const double tick : y.Ticks()) {
    const double place = y.Place(tick);
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(kLeft), " ",
                    Length(place), "H", Length(kWidth - kRight), "\"/>",
                    SvgText(kLeft - 10, place + 4, "end",
                            FormatWith(chart.format_y, tick)));
  }
  for (const double tick : x.Ticks()) {
    absl::StrAppend(&svg, SvgText(x.Place(tick), kHeight - kBottom + 20,
                                  "middle", FormatWith(chart.format_x, tick)));
  }
  return absl::StrCat(
      svg, SvgText(kLeft, kTop - 14, "start", chart.y_label),
      SvgText(kWidth - kRight, kHeight - 8, "end", chart.x_label));
}

std::string SvgLine(const LineChart& chart, size_t index, const Axis& x,
                    const Axis& y) {
  const LineChart::Line& line = chart.lines[index];
  const std::string colour = absl::StrCat("var(--c", index % kColourCount, ")");
  std::string path;
  std::string points;
  for (const auto& [point_x, point_y] : line.points) {
    if (!x.Shows(point_x) || !y.Shows(point_y)) continue;
    const std::string place_x = Length(x.Place(point_x));
    const std::string place_y = Length(y.Place(point_y));
    absl::StrAppend(&path, path.empty() ? "M" : "L", place_x, " ", place_y);
    absl::StrAppend(
        &points, "<circle class=\"point\" r=\"5\" cx=\"", place_x, "\" cy=\"",
        place_y, "\" style=\"fill:", colour, "\"><title>",
        Escape(absl::StrCat(line.name, ", ",
                            FormatWith(chart.format_x, point_x), ": ",
                            FormatWith(chart.format_y, point_y))),
        "</title></circle>\n");
  }
  return absl::StrCat("<path class=\"line\" style=\"stroke:", colour, "\" d=\"",
                      path, "\"/>\n", points);
}

constexpr double kLayoutBottom = 430;
constexpr double kLiveTop = 452;
constexpr double kLiveBottom = 532;
constexpr double kLayoutHeight = 580;

// A layout's axes.
struct LayoutScale {
  Axis step{false, kLeft, kWidth - kRight};
  Axis bytes{false, kLayoutBottom, kTop};
  Axis live{false, kLiveBottom, kLiveTop};
  int64_t high_bytes = 0;
};

LayoutScale ScaleOf(const LayoutChart& chart) {
  LayoutScale scale;
  scale.high_bytes = chart.marked_bytes;
  for (const LayoutChart::Box& box : chart.boxes) {
    scale.step.Include(static_cast<double>(box.begin_step));
    scale.step.Include(static_cast<double>(box.end_step));
    scale.high_bytes =
        std::max(scale.high_bytes, box.offset_bytes + box.size_bytes);
  }
  scale.step.Fit();
  for (Axis* axis : {&scale.bytes, &scale.live}) {
    axis->Include(0);
    axis->Include(static_cast<double>(scale.high_bytes));
    axis->Fit();
  }
  return scale;
}

std::string SvgLayoutGrid(const LayoutScale& scale) {
  int64_t step_bytes = 1;
  while (step_bytes < scale.high_bytes / 5) step_bytes *= 2;
  std::string svg;
  for (int64_t tick = 0; tick <= scale.high_bytes; tick += step_bytes) {
    const double place = scale.bytes.Place(static_cast<double>(tick));
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(kLeft), " ",
                    Length(place), "H", Length(kWidth - kRight), "\"/>",
                    SvgText(kLeft - 10, place + 4, "end",
                            AbbreviateBytes(static_cast<double>(tick))));
    if (tick > scale.high_bytes - step_bytes) break;  // might overflow
  }
  for (const double tick : scale.step.Ticks()) {
    if (tick != std::floor(tick)) continue;
    absl::StrAppend(&svg, SvgText(scale.step.Place(tick), kLiveBottom + 20,
                                  "middle", absl::StrFormat("%.0f", tick)));
  }
  return absl::StrCat(
      svg, SvgText(kLeft - 10, kLiveTop + 12, "end", "live"),
      SvgText(kLeft, kTop - 14, "start", "offset"),
      SvgText(kWidth - kRight, kLayoutHeight - 8, "end", "step"));
}

std::string SvgBox(const LayoutChart& chart, const LayoutChart::Box& box,
                   const LayoutScale& scale) {
  constexpr double kLeastHeightOfText = 12;
  constexpr double kWidthOfLetter = 7;
  const double left = scale.step.Place(static_cast<double>(box.begin_step));
  const double right = scale.step.Place(static_cast<double>(box.end_step));
  const double low = scale.bytes.Place(static_cast<double>(box.offset_bytes));
  const double high =
      scale.bytes.Place(static_cast<double>(box.offset_bytes + box.size_bytes));
  std::string words = box.label;
  if (chart.series.size() > 1 && box.series < chart.series.size()) {
    absl::StrAppend(&words, " (", chart.series[box.series], ")");
  }
  absl::StrAppend(&words, ": ",
                  AbbreviateBytes(static_cast<double>(box.size_bytes)), " (",
                  box.size_bytes, " B) at ", box.offset_bytes, ", from step ",
                  box.begin_step, " until before ", box.end_step);
  std::string svg = absl::StrCat(
      "<rect class=\"box ", box.is_marked ? "marked" : "pale", "\" x=\"",
      Length(left), "\" y=\"", Length(high), "\" width=\"",
      Length(right - left), "\" height=\"", Length(low - high),
      "\" style=\"fill:var(--c", box.series % kColourCount, ")\"><title>");
  absl::StrAppend(&svg, Escape(words), "</title></rect>\n");
  const double text_width =
      kWidthOfLetter * static_cast<double>(box.label.size() + 1);
  if (low - high >= kLeastHeightOfText && right - left >= text_width) {
    absl::StrAppend(&svg, "<text class=\"inside\"",
                    box.is_marked
                        ? absl::StrCat(" style=\"fill:var(--t",
                                       box.series % kColourCount, ")\"")
                        : "",
                    " x=\"", Length((left + right) / 2), "\" y=\"",
                    Length((low + high) / 2 + 4), "\" text-anchor=\"middle\">",
                    Escape(box.label), "</text>\n");
  }
  return svg;
}

// The silhouette of the live bytes.
std::string SvgLiveBytes(const LayoutChart& chart, const LayoutScale& scale) {
  std::map<int64_t, int64_t> changes;
  for (const LayoutChart::Box& box : chart.boxes) {
    changes[box.begin_step] += box.size_bytes;
    changes[box.end_step] -= box.size_bytes;
  }
  std::string path;
  int64_t live_bytes = 0;
  for (const auto& [step, change] : changes) {
    live_bytes += change;
    absl::StrAppend(
        &path,
        path.empty()
            ? absl::StrCat("M", Length(kLeft), " ", Length(kLiveBottom))
            : "",
        "H", Length(scale.step.Place(static_cast<double>(step))), "V",
        Length(scale.live.Place(static_cast<double>(live_bytes))));
  }
  return absl::StrCat("<path class=\"live\" d=\"", path, "\"/>\n");
}

std::string SvgMarks(const LayoutChart& chart, const LayoutScale& scale) {
  const double level =
      scale.bytes.Place(static_cast<double>(chart.marked_bytes));
  const double step =
      scale.step.Place(static_cast<double>(chart.marked_step) + 0.5);
  return absl::StrCat(
      "<path class=\"level\" d=\"M", Length(kLeft), " ", Length(level), "H",
      Length(kWidth - kRight), "\"/>\n<path class=\"level\" d=\"M",
      Length(step), " ", Length(kTop), "V", Length(kLiveBottom), "\"/>\n",
      SvgText(kWidth - kRight, kTop - 14, "end", chart.marked_label));
}

}  // namespace

std::string AbbreviateBytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  // 1,023.5 would be shown as 1,024.
  while (std::abs(bytes) >= 1023.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  const bool has_fraction = unit > 0 && std::abs(bytes) < 9.95;
  return absl::StrFormat("%.*f %s", has_fraction ? 1 : 0, bytes, kUnits[unit]);
}

void PageContent::AddHeading(absl::string_view text) {
  absl::StrAppend(&html_, "<h2>", Escape(text), "</h2>\n");
}

void PageContent::AddParagraph(absl::string_view text) {
  absl::StrAppend(&html_, "<p>", Escape(text), "</p>\n");
}

void PageContent::AddCode(absl::string_view text) {
  absl::StrAppend(&html_, "<pre><code>", Escape(text), "</code></pre>\n");
}

void PageContent::AddTable(const PageTable& table) {
  const auto text_class = [&table](size_t column) {
    return column < table.text_columns ? " class=\"text\"" : "";
  };
  absl::StrAppend(&html_,
                  "<div class=\"scroll\" tabindex=\"0\">"
                  "<table class=\"plain\"><caption>",
                  Escape(table.caption), "</caption><thead><tr>");
  for (size_t i = 0; i < table.header.size(); ++i) {
    absl::StrAppend(&html_, "<th scope=\"col\"", text_class(i), ">",
                    Escape(table.header[i]), "</th>");
  }
  absl::StrAppend(&html_, "</tr></thead><tbody>\n");
  for (const std::vector<std::string>& row : table.rows) {
    absl::StrAppend(&html_, "<tr>");
    for (size_t i = 0; i < row.size(); ++i) {
      const char* tag = i == 0 ? "th" : "td";
      absl::StrAppend(&html_, "<", tag, i == 0 ? " scope=\"row\"" : "",
                      text_class(i), ">", Escape(row[i]), "</", tag, ">");
    }
    absl::StrAppend(&html_, "</tr>\n");
  }
  absl::StrAppend(&html_, "</tbody></table></div>\n");
}

void PageContent::AddStackedBars(const StackedBars& chart) {
  double largest = 0;
  for (const StackedBars::Bar& bar : chart.bars) {
    largest = std::max(largest, Sum(bar.values));
  }
  absl::StrAppend(&html_, "<figure>\n", Caption(chart.title, chart.description),
                  Legend(chart.series), "<table class=\"bars\">\n");
  for (const StackedBars::Bar& bar : chart.bars) {
    const bool is_share = chart.scale == StackedBars::Scale::kShare;
    const double full_width = is_share ? Sum(bar.values) : largest;
    absl::StrAppend(&html_, BarRow(chart, bar, full_width));
  }
  absl::StrAppend(&html_, "</table>\n</figure>\n");
}

void PageContent::AddLineChart(const LineChart& chart) {
  Axis x(chart.has_logarithmic_x, kLeft, kWidth - kRight);
  Axis y(chart.has_logarithmic_y, kHeight - kBottom, kTop);
  std::vector<std::string> names;
  for (const LineChart::Line& line : chart.lines) {
    names.push_back(line.name);
    for (const auto& [point_x, point_y] : line.points) {
      x.Include(point_x);
      y.Include(point_y);
    }
  }
  x.Round();
  y.Round();
  absl::StrAppend(&html_, "<figure>\n", Caption(chart.title, chart.description),
                  Legend(names), "<div class=\"scroll\" tabindex=\"0\">",
                  "<svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                  "\" role=\"img\" aria-label=\"", Escape(chart.title), ": ",
                  Escape(chart.y_label), " by ", Escape(chart.x_label), "\">\n",
                  SvgGrid(chart, x, y));
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    absl::StrAppend(&html_, SvgLine(chart, i, x, y));
  }
  absl::StrAppend(&html_, "</svg></div>\n</figure>\n");
}

void PageContent::AddLayoutChart(const LayoutChart& chart) {
  const LayoutScale scale = ScaleOf(chart);
  absl::StrAppend(&html_, "<figure>\n", Caption(chart.title, chart.description),
                  chart.series.size() > 1 ? Legend(chart.series) : "",
                  "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 ",
                  kWidth, " ", kLayoutHeight, "\" role=\"img\" aria-label=\"",
                  Escape(chart.title), ": ", chart.boxes.size(),
                  " boxes over steps and bytes\">\n", SvgLayoutGrid(scale));
  for (const LayoutChart::Box& box : chart.boxes) {
    absl::StrAppend(&html_, SvgBox(chart, box, scale));
  }
  if (!chart.boxes.empty()) {
    absl::StrAppend(&html_, SvgLiveBytes(chart, scale), SvgMarks(chart, scale));
  }
  absl::StrAppend(&html_, "</svg></div>\n</figure>\n");
}

void PageContent::AddFold(absl::string_view summary,
                          const PageContent& content) {
  absl::StrAppend(&html_, "<details><summary>", Escape(summary), "</summary>\n",
                  content.html_, "</details>\n");
}

void PageContent::AddViews(absl::string_view label,
                           const std::vector<View>& views) {
  absl::StrAppend(&html_, kGroupBegin, "<fieldset class=\"views\"><legend>",
                  Escape(label), "</legend>\n");
  for (size_t i = 0; i < views.size(); ++i) {
    absl::StrAppend(&html_, "<input type=\"radio\" name=\"", kGroupName,
                    "\" id=\"", kGroupName, "-", i, "\"",
                    i == 0 ? " checked" : "", "><label for=\"", kGroupName, "-",
                    i, "\">", Escape(views[i].name), "</label>\n");
  }
  for (const View& view : views) {
    absl::StrAppend(&html_, "<div class=\"view\">\n", view.content.html_,
                    "</div>\n");
  }
  absl::StrAppend(&html_, "</fieldset>\n", kGroupEnd);
}

Page::Page(absl::string_view title, absl::string_view lead)
    : title_(title), lead_(lead) {}

std::string Page::Html() const {
  std::string style = kStyle;
  for (size_t i = 1; i <= kColourCount; ++i) {
    absl::StrAppend(&style, ".views > input:nth-of-type(", i,
                    "):checked ~ .view:nth-of-type(", i,
                    ") { display: block; }\n");
  }
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      Escape(title_), "</title>\n<style>", style,
      "</style>\n</head>\n<body>\n<main>\n<h1>", Escape(title_),
      "</h1>\n<p class=\"lead\">", Escape(lead_), "</p>\n", NameGroups(html_),
      "</main>\n</body>\n</html>\n");
}

}  // namespace footprint

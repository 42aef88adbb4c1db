// Captions and axes, which the charts of a page share; parts of page.h.
//
//   Axis x(/*is_logarithmic=*/false, kLeft, kWidth - kRight);
//   x.Include(3);
//   x.Round();
//   svg += SvgText(x.ToPixel(3), kTop, "middle", "three");
//
// Pure functions, thread-safe; an Axis is thread-compatible. Memory: the text.

#ifndef FOOTPRINT_BASE_PAGE_CHART_DRAWING_H_
#define FOOTPRINT_BASE_PAGE_CHART_DRAWING_H_

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace footprint::page_internal {

// Series beyond share colours.
inline constexpr size_t kColourCount = 8;

// Stand for the name of a group of views until the whole page is known: a
// group may lie in another, and be added twice.
inline constexpr char kGroupBegin[] = "\x01";
inline constexpr char kGroupName[] = "\x02";
inline constexpr char kGroupEnd[] = "\x03";

// A length or share for HTML and SVG: short, and the same in every locale.
std::string Length(double value);

// "25 %"; "<1 %" and ">99 %" for what is nearly nothing or nearly all.
std::string Percent(double share);

// A text as a script's data holds it, in quotes: nothing in it ends the script.
std::string ScriptText(const std::string& text);

// Title and description of a figure.
std::string Caption(const std::string& title, const std::string& description);

// The names of series in their colours, of which the first has `first_colour`.
// An empty name has no entry.
std::string Legend(const std::vector<std::string>& names,
                   size_t first_colour = 0);

// A picture's extent and margins, in its own units.
inline constexpr double kWidth = 760;
inline constexpr double kLeft = 84;
inline constexpr double kRight = 40;
inline constexpr double kTop = 30;

// The same as values, for pictures that are drawn for more than one screen.
struct Frame {
  double width;
  double height;
  double left;
  double right;
  double top;
  double bottom;
  int tick_count;  // about as many as find room
};
inline constexpr Frame kWideFrame = {kWidth, 360, kLeft, kRight, kTop, 52, 5};
// A frame as wide as a telephone's screen, so that letters keep their size.
inline constexpr Frame kNarrowFrame = {350, 300, 66, 36, kTop, 52, 3};

std::string SvgText(double x, double y, const char* anchor,
                    const std::string& text);

// Colours, and the style of what is drawn in them: of a page and of a picture
// that stands alone.
extern const char kChartColours[];
extern const char kChartStyle[];

// The scale that places data in an SVG picture.
class Axis {
 public:
  // A logarithmic axis has powers of `base`, 10 or 2, at equal distances.
  Axis(bool is_logarithmic, double start, double end, int base = 10)
      : is_logarithmic_(is_logarithmic),
        start_(start),
        end_(end),
        base_(base) {}

  bool Shows(double value) const { return !is_logarithmic_ || value > 0; }

  void Include(double value);

  // Called after the last Include: keeps the ends as they are.
  void Fit();

  // Called after the last Include: rounds the ends to whole powers of the base,
  // or begins at zero.
  void Round();

  // The same, but from near the lowest value where more than half would be
  // empty; all values lie within.
  void RoundClosely();

  // Returns where the axis begins; for a logarithmic one, the power.
  double low() const { return low_; }

  double ToPixel(double value) const;

  // `count`: of about as many.
  std::vector<double> Ticks(int count = 5) const;

 private:
  double Scaled(double value) const;

  // 1, 2 or 5 times a power of ten, for about `count` ticks.
  double Step(int count) const;

  const bool is_logarithmic_;
  const double start_;
  const double end_;
  const int base_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace footprint::page_internal

#endif  // FOOTPRINT_BASE_PAGE_CHART_DRAWING_H_

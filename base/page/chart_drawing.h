// Captions and axes that the charts of a page share; parts of page.h.
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

// The number of colours. Further series share them.
inline constexpr size_t kColourCount = 8;

// These stand for the name of a group of views until the whole page is known,
// since a group may lie in another and may be added twice.
inline constexpr char kGroupBegin[] = "\x01";
inline constexpr char kGroupName[] = "\x02";
inline constexpr char kGroupEnd[] = "\x03";

// Returns a length or share for HTML and SVG: short, and the same in every
// locale.
std::string Length(double value);

// Returns a text such as "25 %"; "<1 %" for nearly nothing, ">99 %" for nearly
// all.
std::string Percent(double share);

// Returns the text as a quoted string of a script, escaped so that nothing in
// it ends the script.
std::string ScriptText(const std::string& text);

// Returns the title and the description of a figure.
std::string Caption(const std::string& title, const std::string& description);

// Returns the names of series with their colours, the first with
// `first_colour`. An empty name has no entry.
std::string Legend(const std::vector<std::string>& names,
                   size_t first_colour = 0);

// A picture's size and margins, in its own units.
inline constexpr double kWidth = 760;
inline constexpr double kLeft = 84;
inline constexpr double kRight = 40;
inline constexpr double kTop = 30;

// The size and margins of a picture that is drawn for several screens.
struct Frame {
  double width;
  double height;
  double left;
  double right;
  double top;
  double bottom;
  int tick_count;  // about as many as fit
};
inline constexpr Frame kWideFrame = {kWidth, 360, kLeft, kRight, kTop, 52, 5};
// A frame as wide as a telephone's screen, so that letters keep their size.
inline constexpr Frame kNarrowFrame = {350, 300, 66, 36, kTop, 52, 3};

// Returns a text element of SVG, with the text escaped. `anchor` is the value
// of text-anchor.
std::string SvgText(double x, double y, const char* anchor,
                    const std::string& text);

// The colours and the style of pictures, as CSS, for a page and for a picture
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

  // Makes the axis long enough for the value, unless it cannot show it.
  void Include(double value);

  // Keeps the ends as they are. Call it after the last Include.
  void Fit();

  // Rounds the ends of a logarithmic axis to whole powers of the base. Any
  // other axis then begins at zero, or at its lowest value if that is negative.
  // Call it after the last Include.
  void Round();

  // Does the same, but begins near the lowest value if more than half of the
  // axis would be empty. All values are within the axis.
  void RoundClosely();

  // Returns where the axis begins; for a logarithmic axis, the power.
  double low() const { return low_; }

  // Returns the place of a value in the picture: `start` for the lowest value,
  // `end` for the highest.
  double ToPixel(double value) const;

  // Returns about `count` ticks.
  std::vector<double> Ticks(int count = 5) const;

 private:
  double Scaled(double value) const;

  // Returns the step for about `count` ticks: 1, 2 or 5 times a power of ten.
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

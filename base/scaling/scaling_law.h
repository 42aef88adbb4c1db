// The law by which a figure grows with a program's variables, fitted to the
// cells that were measured.
//
//   // bytes of a table, measured over features x rows
//   absl::optional<ScalingLaw> law = FitScalingLaw(
//       {{{10, 1000}, 88000}, {{10, 2000}, 176000}, ...});
//   // "8 B x features x rows + 8 B x rows"
//   std::string text = LawText(*law, {"features", "rows"});
//
// A law is a constant and at most two terms: a variable, its square, or the
// product of two; or a constant and one step: a variable up to the next power
// of two, as the capacity of a buffer that doubles; or a variable times its
// logarithm, as of a sort, beside a constant or a line. Steps are told from
// lines where a value is no power of two. Constants and coefficients are above
// zero: memory that is held grows with what it holds.
//
// The criterion. Each law is judged by the cells that it was not fitted to:
// every cell in turn is left out, the law fitted to the others, and asked for
// the cell. Its error there is relative; cells below kNegligibleShare of the
// largest count as that large, so that figures of no account decide nothing.
// The law that is chosen has the fewest terms of those whose error (the root of
// the mean of squares) is at most a quarter or 0.001 above the smallest, and
// among these the smallest error.
//
// No law rests on one row of the grid, which is all cells with one value of a
// variable. Where leaving out a row makes a law with a term less, or with a
// line in place of a square, a step or a logarithm, as good as the law, the
// simpler one is taken: a figure that is level and rises at the largest size
// alone is a constant and a line, since nothing shows a square.
//
// Pure; thread-safe. Memory: the points. Time: that of some hundred fits of at
// most three coefficients a point.

#ifndef FOOTPRINT_BASE_SCALING_SCALING_LAW_H_
#define FOOTPRINT_BASE_SCALING_SCALING_LAW_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace footprint {

inline constexpr double kNegligibleShare = 0.001;

struct ScalingPoint {
  // One a variable.
  std::vector<double> variables;
  double value = 0;
};

struct ScalingLaw {
  struct Growth {
    // Indices of the variables that it is the product of; none: a constant.
    std::vector<int> factors;
    // Each variable counts as the least power of two that is no smaller.
    bool is_doubled = false;
    // The product is multiplied by the logarithm of the variable, to base 2.
    bool is_logarithmic = false;
  };
  struct Term {
    double coefficient = 0;
    Growth growth;
  };
  // Largest at the largest point first; none: always zero.
  std::vector<Term> terms;
  // The largest relative error at the points that it was fitted to.
  double worst_error = 0;
  // The error of the criterion: of points that it was not fitted to.
  double left_out_error = 0;
  // The largest relative error at the points with the largest value of a
  // variable, of a law that is fitted without them; of the variable for which
  // it is largest. Infinite if the other points do not tell the law's
  // coefficients.
  double largest_size_error = 0;
  // The highest power of a variable in laws that may hold instead, which more
  // sizes would tell: those that are better by the criterion, but rest on one
  // row; and the law with a square besides, if that takes three quarters off
  // the squares of its errors at the points that it was fitted to. 0: none.
  int unproved_power = 0;

  double At(const std::vector<double>& variables) const;
  // Returns the highest power of any one variable. A logarithm or a step of a
  // variable counts as the variable.
  int highest_power() const;
};

// The fewest points from which a law is told.
inline constexpr size_t kMinimumPointCount = 3;

// Returns the law that fits the points, or nothing if there are too few points,
// or if none fits all but any one. Values below zero count as zero. All points
// have the same number of variables, each above zero or zero.
absl::optional<ScalingLaw> FitScalingLaw(absl::Span<const ScalingPoint> points);

// A prediction is a law's figure at a size that was not measured. The range
// holds what every law that the criterion finds about as good says, one that
// rests on one row too, fitted to all points and to all but one of them in
// turn, widened by the law's error at points that it was not fitted to. It
// knows nothing of what begins beyond the largest point.
struct ScalingPrediction {
  double value = 0;  // by FitScalingLaw
  double low = 0;
  double high = 0;
};

// Returns what the law says of a size, or nothing where FitScalingLaw returns
// nothing.
absl::optional<ScalingPrediction> PredictByScalingLaw(
    absl::Span<const ScalingPoint> points,
    const std::vector<double>& variables);

// The unit of a law's values: bytes, or plain numbers for a law of counts.
enum class LawUnit { kBytes, kCount };
std::string LawText(const ScalingLaw& law,
                    const std::vector<std::string>& variable_names,
                    LawUnit unit = LawUnit::kBytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SCALING_SCALING_LAW_H_

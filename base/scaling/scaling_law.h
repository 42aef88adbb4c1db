// Fits a law to measured points: how a figure grows with a program's variables.
//
//   // bytes of a table, measured over features x rows
//   absl::optional<ScalingLaw> law = FitScalingLaw(
//       {{{10, 1000}, 88000}, {{10, 2000}, 176000}, ...});
//   // "8 B x features x rows + 8 B x rows"
//   std::string text = LawText(*law, {"features", "rows"});
//
// A law is one of these: at most two terms, each a variable, its square, or a
// product of two; one step, which is a variable rounded up to the next power of
// two, like the capacity of a buffer that doubles; or a variable times its
// logarithm, as for a sort. Each may have a constant, and a logarithm may have
// a line instead. Steps differ from lines only if some value is not a power of
// two. Constants and coefficients are above zero, since memory grows with what
// it holds.
//
// The criterion. Each law is judged by points that it was not fitted to: every
// point in turn is left out, the law is fitted to the others, and it predicts
// that point. Errors are relative to the figure at the point, or to
// kNegligibleShare of the largest figure if that is more, so that negligible
// figures decide nothing. Among the laws whose error (the root of the mean of
// squares) is at most a quarter or 0.001 above the smallest, whichever is more,
// the law with the fewest terms is chosen, and among these the one with the
// smallest error.
//
// A law must not rest on one row of the grid, that is, on the points with one
// value of a variable. If leaving out a row makes a simpler law as good as the
// law, the simpler one is taken. A simpler law has a term less, or a line
// instead of a square, a step or a logarithm. For example, a figure that is
// level and rises only at the largest size is a constant and a line, since
// nothing shows a square.
//
// Pure; thread-safe. Memory: the points. Time: that of some hundred fits of at
// most three coefficients for each point.

#ifndef FOOTPRINT_BASE_SCALING_SCALING_LAW_H_
#define FOOTPRINT_BASE_SCALING_SCALING_LAW_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace footprint {

// A figure below this share of the largest one is negligible.
inline constexpr double kNegligibleShare = 0.001;

struct ScalingPoint {
  // One value per variable.
  std::vector<double> variables;
  double value = 0;
};

struct ScalingLaw {
  struct Growth {
    // Indices of the variables in the product; empty for a constant.
    std::vector<int> factors;
    // If set, each variable is rounded up to a power of two.
    bool is_doubled = false;
    // If set, the product is multiplied by the logarithm of the variable, to
    // base 2.
    bool is_logarithmic = false;
  };
  struct Term {
    double coefficient = 0;
    Growth growth;
  };
  // The terms, the one that is largest at the largest point first. Empty if the
  // value is always zero.
  std::vector<Term> terms;
  // The largest relative error at the points that the law was fitted to.
  double worst_error = 0;
  // The error by the criterion, at points that the law was not fitted to.
  double left_out_error = 0;
  // The largest relative error of a prediction beyond the fitted sizes: for
  // each variable, the law is fitted without the points at the variable's
  // largest value, and predicts them. Infinite if the other points do not
  // determine the law's coefficients.
  double largest_size_error = 0;
  // The highest power of a variable in laws that may hold instead; points at
  // more sizes would decide. These are the laws that are better by the
  // criterion but rest on one row, and the law with an added square, if that
  // removes three quarters of the squares of its errors at the points that it
  // was fitted to. 0: there are none.
  int unproved_power = 0;

  // Returns the figure at a size: `variables` has one value per variable.
  double At(const std::vector<double>& variables) const;
  // Returns the highest power of any one variable. A logarithm or a step of a
  // variable counts as the variable.
  int highest_power() const;
};

// The fewest points that determine a law.
inline constexpr size_t kMinimumPointCount = 3;

// Returns the law that fits the points. Returns nullopt if there are too few
// points, or if no law can be fitted without each single point in turn. Values
// below zero count as zero. All points must have the same number of variables,
// none below zero.
absl::optional<ScalingLaw> FitScalingLaw(absl::Span<const ScalingPoint> points);

// A prediction is a law's figure at a size that was not measured. The range
// includes the figures of every law that is about as good by the criterion,
// even one that rests on one row. Each is fitted to all points and to all but
// one of them in turn, and widened by the law's error at points that it was not
// fitted to. The range does not include growth that begins beyond the largest
// point.
struct ScalingPrediction {
  double value = 0;  // of the law of FitScalingLaw
  double low = 0;
  double high = 0;
};

// Returns the law's figure at a size, or nullopt if FitScalingLaw does.
absl::optional<ScalingPrediction> PredictByScalingLaw(
    absl::Span<const ScalingPoint> points,
    const std::vector<double>& variables);

// The unit of a law's values: bytes, or plain numbers for a law of counts.
enum class LawUnit { kBytes, kCount };
// Returns the law as in the example above; "0" if it has no terms. There must
// be a name for each variable.
std::string LawText(const ScalingLaw& law,
                    const std::vector<std::string>& variable_names,
                    LawUnit unit = LawUnit::kBytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SCALING_SCALING_LAW_H_

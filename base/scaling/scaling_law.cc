#include "footprint/base/scaling/scaling_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

using Growth = ScalingLaw::Growth;

constexpr size_t kMaxTerms = 4;  // 3 of a law, and a square that is tried
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the least power of two that is at least `count`.
double DoubledCapacity(double count) {
  return count > 0 ? std::exp2(std::ceil(std::log2(count))) : 0;
}

double EvaluateGrowth(const Growth& growth,
                      const std::vector<double>& variables) {
  double product = 1;
  for (int factor : growth.factors) {
    const double variable = variables[static_cast<size_t>(factor)];
    product *= growth.is_doubled ? DoubledCapacity(variable) : variable;
  }
  if (growth.is_logarithmic) {
    product *= std::log2(
        std::max(1.0, variables[static_cast<size_t>(growth.factors.front())]));
  }
  return product;
}

// The points to fit. Errors count as shares of `scales`.
struct Problem {
  std::vector<ScalingPoint> points;
  std::vector<double> scales;
};

// Solves the normal equations of at most kMaxTerms terms. Returns false if they
// have no unique solution.
bool Solve(std::array<std::array<double, kMaxTerms + 1>, kMaxTerms> equations,
           size_t count, std::vector<double>* solution) {
  for (size_t i = 0; i < count; ++i) {
    size_t pivot = i;
    for (size_t j = i + 1; j < count; ++j) {
      if (std::abs(equations[j][i]) > std::abs(equations[pivot][i])) pivot = j;
    }
    // The diagonal began as ones, so this is nearly zero.
    if (std::abs(equations[pivot][i]) < 1e-10) return false;
    std::swap(equations[i], equations[pivot]);
    for (size_t j = i + 1; j < count; ++j) {
      const double share = equations[j][i] / equations[i][i];
      for (size_t k = i; k <= kMaxTerms; ++k) {
        equations[j][k] -= share * equations[i][k];
      }
    }
  }
  solution->assign(count, 0);
  for (size_t i = count; i-- > 0;) {
    double rest = equations[i][kMaxTerms];
    for (size_t k = i + 1; k < count; ++k) {
      rest -= equations[i][k] * (*solution)[k];
    }
    (*solution)[i] = rest / equations[i][i];
  }
  return true;
}

// Returns the coefficients with the smallest squares of relative errors over
// all points except `left_out`. Returns none if there is no solution, or if a
// coefficient is not above zero.
std::vector<double> Coefficients(const Problem& problem,
                                 const std::vector<Growth>& terms,
                                 size_t left_out) {
  const size_t count = terms.size();
  std::array<std::array<double, kMaxTerms + 1>, kMaxTerms> equations = {};
  // Adds up the normal equations.
  for (size_t point = 0; point < problem.points.size(); ++point) {
    if (point == left_out) continue;
    const double weight = 1 / problem.scales[point];
    std::array<double, kMaxTerms> columns = {};
    for (size_t i = 0; i < count; ++i) {
      columns[i] =
          weight * EvaluateGrowth(terms[i], problem.points[point].variables);
    }
    const double value = weight * std::max(0.0, problem.points[point].value);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        equations[i][j] += columns[i] * columns[j];
      }
      equations[i][kMaxTerms] += columns[i] * value;
    }
  }
  // Scales the equations so that the diagonal is one.
  std::array<double, kMaxTerms> lengths = {};
  for (size_t i = 0; i < count; ++i) lengths[i] = std::sqrt(equations[i][i]);
  for (size_t i = 0; i < count; ++i) {
    if (!(lengths[i] > 0)) return {};
    for (size_t j = 0; j < count; ++j) {
      equations[i][j] /= lengths[i] * lengths[j];
    }
    equations[i][kMaxTerms] /= lengths[i];
  }
  std::vector<double> solution;
  if (!Solve(equations, count, &solution)) return {};
  for (size_t i = 0; i < count; ++i) {
    solution[i] /= lengths[i];
    if (!(solution[i] > 0)) return {};
  }
  return solution;
}

double Predict(const std::vector<Growth>& terms,
               const std::vector<double>& coefficients,
               const std::vector<double>& variables) {
  double sum = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    sum += coefficients[i] * EvaluateGrowth(terms[i], variables);
  }
  return sum;
}

double RelativeError(const Problem& problem, size_t point, double predicted) {
  return std::abs(predicted - std::max(0.0, problem.points[point].value)) /
         problem.scales[point];
}

// Returns the criterion's error of a law; infinity if it cannot be fitted.
double LeftOutError(const Problem& problem, const std::vector<Growth>& terms) {
  double squares = 0;
  for (size_t i = 0; i < problem.points.size(); ++i) {
    const std::vector<double> coefficients = Coefficients(problem, terms, i);
    if (coefficients.size() != terms.size()) return kInfinity;
    const double error = RelativeError(
        problem, i, Predict(terms, coefficients, problem.points[i].variables));
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(problem.points.size()));
}

std::set<double> CollectValues(absl::Span<const ScalingPoint> points,
                               size_t variable) {
  std::set<double> values;
  for (const ScalingPoint& point : points) {
    values.insert(point.variables[variable]);
  }
  return values;
}

// Returns a doubling capacity for each variable that has three values. If all
// values are powers of two, it describes the points as well as the variable
// itself, which comes first and is chosen. A prediction's range then includes
// both.
std::vector<Growth> DoublingTerms(absl::Span<const ScalingPoint> points) {
  std::vector<Growth> terms;
  for (size_t i = 0; i < points[0].variables.size(); ++i) {
    if (CollectValues(points, i).size() > 2) {
      terms.push_back({{static_cast<int>(i)}, true});
    }
  }
  return terms;
}

// Returns n log n of each variable that has enough values to distinguish it
// from a line and a square.
std::vector<Growth> LogarithmicTerms(absl::Span<const ScalingPoint> points) {
  constexpr size_t kFewestValues = 4;
  std::vector<Growth> terms;
  for (size_t i = 0; i < points[0].variables.size(); ++i) {
    if (CollectValues(points, i).size() >= kFewestValues) {
      terms.push_back({{static_cast<int>(i)}, false, true});
    }
  }
  return terms;
}

// Returns the variables that vary, the squares of those with three values, and
// the products of two.
std::vector<Growth> CandidateTerms(absl::Span<const ScalingPoint> points) {
  const int count = static_cast<int>(points[0].variables.size());
  std::vector<int> varying;
  std::vector<Growth> terms;
  for (int i = 0; i < count; ++i) {
    const std::set<double> values =
        CollectValues(points, static_cast<size_t>(i));
    if (values.size() < 2) continue;
    varying.push_back(i);
    terms.push_back({{i}});
    if (values.size() > 2) terms.push_back({{i, i}});
  }
  for (size_t i = 0; i < varying.size(); ++i) {
    for (size_t j = i + 1; j < varying.size(); ++j) {
      terms.push_back({{varying[i], varying[j]}});
    }
  }
  return terms;
}

// Returns laws with and without a constant: of at most two terms, of one
// doubling capacity, or of one logarithm, which may also have its variable
// beside it.
std::vector<std::vector<Growth>> CandidateLaws(
    absl::Span<const ScalingPoint> points) {
  const std::vector<Growth> terms = CandidateTerms(points);
  std::vector<std::vector<Growth>> laws = {{Growth()}};
  for (size_t i = 0; i < terms.size(); ++i) {
    laws.push_back({terms[i]});
    laws.push_back({Growth(), terms[i]});
    for (size_t j = i + 1; j < terms.size(); ++j) {
      laws.push_back({terms[i], terms[j]});
      laws.push_back({Growth(), terms[i], terms[j]});
    }
  }
  for (const Growth& term : DoublingTerms(points)) {
    laws.push_back({term});
    laws.push_back({Growth(), term});
  }
  for (const Growth& term : LogarithmicTerms(points)) {
    laws.push_back({term});
    laws.push_back({Growth(), term});
    laws.push_back({term, Growth{term.factors}});
  }
  return laws;
}

// Returns the laws that are simpler than `law` in one term: without the term,
// or with the variable instead of its square, its step or its product with a
// logarithm.
std::vector<std::vector<Growth>> SimplerLaws(const std::vector<Growth>& law) {
  std::vector<std::vector<Growth>> simpler;
  const auto has = [&law](const std::vector<int>& factors) {
    return std::any_of(law.begin(), law.end(), [&](const Growth& term) {
      return term.factors == factors && !term.is_doubled &&
             !term.is_logarithmic;
    });
  };
  for (size_t i = 0; i < law.size(); ++i) {
    const std::vector<int>& factors = law[i].factors;
    if (factors.empty()) continue;
    const bool is_square = factors.size() == 2 && factors[0] == factors[1];
    std::vector<Growth> lower = law;
    lower[i] = {{factors[0]}};
    if ((is_square || law[i].is_doubled || law[i].is_logarithmic) &&
        !has(lower[i].factors)) {
      simpler.push_back(lower);
    }
    // A law that loses its only term is a constant, which describes no growth.
    lower.erase(lower.begin() + static_cast<std::ptrdiff_t>(i));
    const bool grows =
        std::any_of(lower.begin(), lower.end(),
                    [](const Growth& term) { return !term.factors.empty(); });
    if (grows) simpler.push_back(std::move(lower));
  }
  return simpler;
}

// Returns the problem without the points that have this value of the variable.
Problem WithoutRow(const Problem& problem, size_t variable, double value) {
  Problem rest;
  for (size_t i = 0; i < problem.points.size(); ++i) {
    if (problem.points[i].variables[variable] == value) continue;
    rest.points.push_back(problem.points[i]);
    rest.scales.push_back(problem.scales[i]);
  }
  return rest;
}

// Returns the largest error that counts as about as small as `error`.
double Enough(double error) { return std::max(error * 1.25, error + 0.001); }

// Returns whether a simpler law is as good once some row is left out. Skips a
// row if the other rows do not determine the law's coefficients.
bool RestsOnOneRow(const Problem& problem, const std::vector<Growth>& law) {
  const std::vector<std::vector<Growth>> simpler = SimplerLaws(law);
  if (simpler.empty()) return false;
  for (size_t i = 0; i < problem.points[0].variables.size(); ++i) {
    const std::set<double> values = CollectValues(problem.points, i);
    for (double value : values) {
      const Problem rest = WithoutRow(problem, i, value);
      if (values.size() < 3 || rest.points.size() <= law.size()) continue;
      const double enough = Enough(LeftOutError(rest, law));
      for (const std::vector<Growth>& each : simpler) {
        if (LeftOutError(rest, each) <= enough) return true;
      }
    }
  }
  return false;
}

// Returns the largest error at the largest value of a variable, for the law
// fitted to the other points.
double LargestSizeError(const Problem& problem,
                        const std::vector<Growth>& law) {
  double largest = 0;
  for (size_t variable = 0; variable < problem.points[0].variables.size();
       ++variable) {
    const std::set<double> values = CollectValues(problem.points, variable);
    if (values.size() < 2) continue;
    const Problem rest = WithoutRow(problem, variable, *values.rbegin());
    const std::vector<double> coefficients =
        Coefficients(rest, law, rest.points.size());
    if (coefficients.size() != law.size()) return kInfinity;
    for (size_t i = 0; i < problem.points.size(); ++i) {
      if (problem.points[i].variables[variable] != *values.rbegin()) continue;
      largest = std::max(largest,
                         RelativeError(problem, i,
                                       Predict(law, coefficients,
                                               problem.points[i].variables)));
    }
  }
  return largest;
}

struct JudgedLaw {
  std::vector<Growth> terms;
  double error = kInfinity;
  bool rests_on_one_row = false;
};

// Returns all laws that can be fitted, the smallest error first.
std::vector<JudgedLaw> LawsThatFit(const Problem& problem) {
  std::vector<JudgedLaw> laws;
  for (const std::vector<Growth>& terms : CandidateLaws(problem.points)) {
    // A law with as many coefficients as points says nothing.
    if (terms.size() >= problem.points.size()) continue;
    const double error = LeftOutError(problem, terms);
    if (error < kInfinity) laws.push_back({terms, error});
  }
  std::stable_sort(
      laws.begin(), laws.end(),
      [](const JudgedLaw& a, const JudgedLaw& b) { return a.error < b.error; });
  return laws;
}

// Returns the laws that describe the points about as well as any. The first one
// is chosen; it rests on no single row if any law does not. Returns none if no
// law can be fitted.
std::vector<JudgedLaw> LawsThatDescribe(const Problem& problem) {
  std::vector<JudgedLaw> laws;
  double smallest = kInfinity;         // of all laws
  double smallest_chosen = kInfinity;  // of the laws that may be chosen
  for (JudgedLaw& law : LawsThatFit(problem)) {
    if (law.error > Enough(smallest) && law.error > Enough(smallest_chosen)) {
      break;
    }
    law.rests_on_one_row = RestsOnOneRow(problem, law.terms);
    smallest = std::min(smallest, law.error);
    if (!law.rests_on_one_row) {
      smallest_chosen = std::min(smallest_chosen, law.error);
    }
    laws.push_back(std::move(law));
  }
  laws.erase(std::remove_if(laws.begin(), laws.end(),
                            [smallest, smallest_chosen](const JudgedLaw& law) {
                              return law.error > Enough(smallest) &&
                                     (law.rests_on_one_row ||
                                      law.error > Enough(smallest_chosen));
                            }),
             laws.end());
  std::stable_sort(laws.begin(), laws.end(),
                   [](const JudgedLaw& a, const JudgedLaw& b) {
                     const auto rank = [](const JudgedLaw& each) {
                       return std::make_tuple(each.rests_on_one_row,
                                              each.terms.size(), each.error);
                     };
                     return rank(a) < rank(b);
                   });
  return laws;
}

// Returns the sum of the squared errors at the points that the law is fitted
// to, or infinity if it cannot be fitted.
double SquaredErrors(const Problem& problem, const std::vector<Growth>& terms) {
  const std::vector<double> coefficients =
      Coefficients(problem, terms, problem.points.size());
  if (coefficients.empty()) return kInfinity;
  double squares = 0;
  for (size_t i = 0; i < problem.points.size(); ++i) {
    const double error = RelativeError(
        problem, i, Predict(terms, coefficients, problem.points[i].variables));
    squares += error * error;
  }
  return squares;
}

// Returns whether one more term, the square of some variable, would remove most
// of the errors. A square that explains less than a thousandth does not count.
bool ASquareMayBeMissing(const Problem& problem,
                         const std::vector<Growth>& law) {
  constexpr double kLeastShareTaken = 0.75;
  constexpr double kNoMatter = 0.001;
  if (law.size() + 1 >= problem.points.size()) return false;
  const double squares = SquaredErrors(problem, law);
  const auto count = static_cast<double>(problem.points.size());
  if (std::sqrt(squares / count) <= kNoMatter) return false;
  for (size_t i = 0; i < problem.points[0].variables.size(); ++i) {
    if (CollectValues(problem.points, i).size() < 3) continue;
    std::vector<Growth> with_square = law;
    with_square.push_back({{static_cast<int>(i), static_cast<int>(i)}});
    if (SquaredErrors(problem, with_square) <=
        (1 - kLeastShareTaken) * squares) {
      return true;
    }
  }
  return false;
}

int HighestPower(const std::vector<Growth>& terms) {
  int highest = 0;
  for (const Growth& term : terms) {
    for (int factor : term.factors) {
      highest = std::max(
          highest, static_cast<int>(std::count(term.factors.begin(),
                                               term.factors.end(), factor)));
    }
  }
  return highest;
}

// Returns the points with their scales; the scales are empty if all values are
// zero.
Problem MakeProblem(absl::Span<const ScalingPoint> points) {
  Problem problem = {{points.begin(), points.end()}, {}};
  double largest = 0;
  for (const ScalingPoint& point : points) {
    largest = std::max(largest, point.value);
  }
  if (!(largest > 0)) return problem;
  for (const ScalingPoint& point : points) {
    problem.scales.push_back(std::max(point.value, kNegligibleShare * largest));
  }
  return problem;
}

// Widens the range by the values of `law` fitted to all points, and to all but
// one.
void WidenByRefits(const Problem& problem, const JudgedLaw& law,
                   const std::vector<double>& variables,
                   ScalingPrediction* prediction) {
  for (size_t left_out = 0; left_out <= problem.points.size(); ++left_out) {
    const std::vector<double> coefficients =
        Coefficients(problem, law.terms, left_out);
    if (coefficients.empty()) continue;
    const double value = Predict(law.terms, coefficients, variables);
    prediction->low = std::min(prediction->low, value * (1 - law.error));
    prediction->high = std::max(prediction->high, value * (1 + law.error));
  }
}

std::string CoefficientText(double coefficient, LawUnit unit) {
  if (unit == LawUnit::kBytes && coefficient >= 100) {
    return AbbreviateBytes(coefficient);
  }
  return absl::StrFormat("%.3g%s", coefficient,
                         unit == LawUnit::kBytes ? " B" : "");
}

}  // namespace

double ScalingLaw::At(const std::vector<double>& variables) const {
  double sum = 0;
  for (const Term& term : terms) {
    sum += term.coefficient * EvaluateGrowth(term.growth, variables);
  }
  return sum;
}

int ScalingLaw::highest_power() const {
  std::vector<Growth> growths;
  for (const Term& term : terms) growths.push_back(term.growth);
  return HighestPower(growths);
}

absl::optional<ScalingLaw> FitScalingLaw(
    absl::Span<const ScalingPoint> points) {
  if (points.size() < kMinimumPointCount) return absl::nullopt;
  // Chooses the first of the laws that describe the points.
  const Problem problem = MakeProblem(points);
  ScalingLaw law;
  if (problem.scales.empty()) return law;
  const std::vector<JudgedLaw> laws = LawsThatDescribe(problem);
  if (laws.empty()) return absl::nullopt;
  const JudgedLaw& chosen = laws.front();
  const std::vector<double> coefficients =
      Coefficients(problem, chosen.terms, points.size());
  if (coefficients.empty()) return absl::nullopt;
  // Computes the errors, and the powers that the points do not exclude.
  law.left_out_error = chosen.error;
  law.largest_size_error = LargestSizeError(problem, chosen.terms);
  if (ASquareMayBeMissing(problem, chosen.terms)) law.unproved_power = 2;
  for (const JudgedLaw& each : laws) {
    if (chosen.error > Enough(each.error)) {
      law.unproved_power =
          std::max(law.unproved_power, HighestPower(each.terms));
    }
  }
  std::vector<double> corner = points[0].variables;
  for (size_t i = 0; i < points.size(); ++i) {
    law.worst_error = std::max(law.worst_error,
                               RelativeError(problem, i,
                                             Predict(chosen.terms, coefficients,
                                                     points[i].variables)));
    for (size_t j = 0; j < corner.size(); ++j) {
      corner[j] = std::max(corner[j], points[i].variables[j]);
    }
  }
  // Sorts the terms by their size at the largest point.
  for (size_t i = 0; i < coefficients.size(); ++i) {
    law.terms.push_back({coefficients[i], chosen.terms[i]});
  }
  std::stable_sort(
      law.terms.begin(), law.terms.end(),
      [&corner](const ScalingLaw::Term& a, const ScalingLaw::Term& b) {
        return a.coefficient * EvaluateGrowth(a.growth, corner) >
               b.coefficient * EvaluateGrowth(b.growth, corner);
      });
  return law;
}

absl::optional<ScalingPrediction> PredictByScalingLaw(
    absl::Span<const ScalingPoint> points,
    const std::vector<double>& variables) {
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  if (!law.has_value()) return absl::nullopt;
  ScalingPrediction prediction;
  prediction.value = law->At(variables);
  prediction.low = prediction.high = prediction.value;
  const Problem problem = MakeProblem(points);
  if (problem.scales.empty()) return prediction;
  for (const JudgedLaw& each : LawsThatDescribe(problem)) {
    WidenByRefits(problem, each, variables, &prediction);
  }
  prediction.low = std::max(0.0, prediction.low);
  return prediction;
}

std::string LawText(const ScalingLaw& law,
                    const std::vector<std::string>& variable_names,
                    LawUnit unit) {
  if (law.terms.empty()) return "0";
  std::vector<std::string> terms;
  for (const ScalingLaw::Term& term : law.terms) {
    std::string text = CoefficientText(term.coefficient, unit);
    const std::vector<int>& factors = term.growth.factors;
    if (factors.size() == 2 && factors[0] == factors[1]) {
      absl::StrAppend(&text, " x ",
                      variable_names[static_cast<size_t>(factors[0])], "^2");
    } else {
      for (int factor : factors) {
        absl::StrAppend(&text, " x ",
                        variable_names[static_cast<size_t>(factor)]);
      }
    }
    if (term.growth.is_doubled) text += " up to a power of two";
    if (term.growth.is_logarithmic) {
      absl::StrAppend(&text, " x log2(",
                      variable_names[static_cast<size_t>(factors[0])], ")");
    }
    terms.push_back(text);
  }
  return absl::StrJoin(terms, " + ");
}

}  // namespace footprint

#include "footprint/base/scaling/scaling_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

using Growth = ScalingLaw::Growth;

constexpr size_t kMaxTerms = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least power of two that is no smaller.
double DoubledCapacity(double count) {
  return count > 0 ? std::exp2(std::ceil(std::log2(count))) : 0;
}

double ValueOf(const Growth& growth, const std::vector<double>& variables) {
  double product = 1;
  for (int factor : growth.factors) {
    const double variable = variables[static_cast<size_t>(factor)];
    product *= growth.is_doubled ? DoubledCapacity(variable) : variable;
  }
  return product;
}

// The points as the fit sees them: errors count as shares of `scales`.
struct Problem {
  absl::Span<const ScalingPoint> points;
  std::vector<double> scales;
};

// Solves the normal equations of at most kMaxTerms terms. False: they have no
// one solution.
bool Solve(std::array<std::array<double, kMaxTerms + 1>, kMaxTerms> equations,
           size_t count, std::vector<double>* solution) {
  for (size_t i = 0; i < count; ++i) {
    size_t pivot = i;
    for (size_t j = i + 1; j < count; ++j) {
      if (std::abs(equations[j][i]) > std::abs(equations[pivot][i])) pivot = j;
    }
    // The diagonal begins as ones.
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

// The coefficients with the smallest squares of relative errors over all points
// but `left_out`. Empty: there are none, or one is not above zero.
std::vector<double> Coefficients(const Problem& problem,
                                 const std::vector<Growth>& terms,
                                 size_t left_out) {
  const size_t count = terms.size();
  std::array<std::array<double, kMaxTerms + 1>, kMaxTerms> equations = {};
  for (size_t point = 0; point < problem.points.size(); ++point) {
    if (point == left_out) continue;
    const double weight = 1 / problem.scales[point];
    std::array<double, kMaxTerms> columns = {};
    for (size_t i = 0; i < count; ++i) {
      columns[i] = weight * ValueOf(terms[i], problem.points[point].variables);
    }
    const double value = weight * std::max(0.0, problem.points[point].value);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        equations[i][j] += columns[i] * columns[j];
      }
      equations[i][kMaxTerms] += columns[i] * value;
    }
  }
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
    sum += coefficients[i] * ValueOf(terms[i], variables);
  }
  return sum;
}

double RelativeError(const Problem& problem, size_t point, double predicted) {
  return std::abs(predicted - std::max(0.0, problem.points[point].value)) /
         problem.scales[point];
}

// The criterion's error of a law; infinity where it cannot be fitted.
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

// The capacity of what doubles, of variables that vary. Where all values are
// powers of two it describes the points as well as the variable itself, which
// is chosen, being first; a prediction's range holds both.
std::vector<Growth> DoublingTerms(absl::Span<const ScalingPoint> points) {
  std::vector<Growth> terms;
  for (size_t i = 0; i < points[0].variables.size(); ++i) {
    std::set<double> values;
    for (const ScalingPoint& point : points) {
      values.insert(point.variables[i]);
    }
    if (values.size() > 2) terms.push_back({{static_cast<int>(i)}, true});
  }
  return terms;
}

// Variables that vary: their squares where there are three values, and their
// products.
std::vector<Growth> CandidateTerms(absl::Span<const ScalingPoint> points) {
  const int count = static_cast<int>(points[0].variables.size());
  std::vector<int> varying;
  std::vector<Growth> terms;
  for (int i = 0; i < count; ++i) {
    std::set<double> values;
    for (const ScalingPoint& point : points) {
      values.insert(point.variables[static_cast<size_t>(i)]);
    }
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

// With and without a constant, and at most two terms besides; of doubling
// capacities, one.
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
  return laws;
}

struct JudgedLaw {
  std::vector<Growth> terms;
  double error = kInfinity;
};

// Those whose error is about the smallest, the chosen one first. Empty: none
// can be fitted.
std::vector<JudgedLaw> LawsThatDescribe(const Problem& problem) {
  std::vector<JudgedLaw> laws;
  double smallest = kInfinity;
  for (const std::vector<Growth>& terms : CandidateLaws(problem.points)) {
    // A law that has a coefficient for each point left says nothing.
    if (terms.size() + 1 >= problem.points.size() && terms.size() > 1) continue;
    laws.push_back({terms, LeftOutError(problem, terms)});
    smallest = std::min(smallest, laws.back().error);
  }
  const double enough = std::max(smallest * 1.25, smallest + 0.001);
  laws.erase(std::remove_if(laws.begin(), laws.end(),
                            [enough](const JudgedLaw& law) {
                              return !(law.error <= enough) ||
                                     law.error == kInfinity;
                            }),
             laws.end());
  std::stable_sort(laws.begin(), laws.end(),
                   [](const JudgedLaw& a, const JudgedLaw& b) {
                     const auto rank = [](const JudgedLaw& each) {
                       return std::make_pair(each.terms.size(), each.error);
                     };
                     return rank(a) < rank(b);
                   });
  return laws;
}

// The points with their scales; empty scales: all values are zero.
Problem ProblemOf(absl::Span<const ScalingPoint> points) {
  Problem problem = {points, {}};
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

// By what `law` says when it is fitted to all points, and to all but one.
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
    sum += term.coefficient * ValueOf(term.growth, variables);
  }
  return sum;
}

absl::optional<ScalingLaw> FitScalingLaw(
    absl::Span<const ScalingPoint> points) {
  if (points.size() < kMinimumPointCount) return absl::nullopt;
  const Problem problem = ProblemOf(points);
  ScalingLaw law;
  if (problem.scales.empty()) return law;
  const std::vector<JudgedLaw> laws = LawsThatDescribe(problem);
  if (laws.empty()) return absl::nullopt;
  const JudgedLaw& chosen = laws.front();
  const std::vector<double> coefficients =
      Coefficients(problem, chosen.terms, points.size());
  if (coefficients.empty()) return absl::nullopt;
  law.left_out_error = chosen.error;
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
  for (size_t i = 0; i < coefficients.size(); ++i) {
    law.terms.push_back({coefficients[i], chosen.terms[i]});
  }
  std::stable_sort(
      law.terms.begin(), law.terms.end(),
      [&corner](const ScalingLaw::Term& a, const ScalingLaw::Term& b) {
        return a.coefficient * ValueOf(a.growth, corner) >
               b.coefficient * ValueOf(b.growth, corner);
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
  const Problem problem = ProblemOf(points);
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
    terms.push_back(text);
  }
  return absl::StrJoin(terms, " + ");
}

}  // namespace footprint

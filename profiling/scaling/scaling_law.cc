#include "footprint/profiling/scaling/scaling_law.h"

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

using Factors = std::vector<int>;

constexpr size_t kMaxTerms = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ValueOf(const Factors& factors, const std::vector<double>& variables) {
  double product = 1;
  for (int factor : factors) product *= variables[static_cast<size_t>(factor)];
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
                                 const std::vector<Factors>& terms,
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

double Predict(const std::vector<Factors>& terms,
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
double LeftOutError(const Problem& problem, const std::vector<Factors>& terms) {
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

// Variables that vary: their squares where there are three values, and their
// products.
std::vector<Factors> CandidateTerms(absl::Span<const ScalingPoint> points) {
  const int count = static_cast<int>(points[0].variables.size());
  std::vector<int> varying;
  std::vector<Factors> terms;
  for (int i = 0; i < count; ++i) {
    std::set<double> values;
    for (const ScalingPoint& point : points) {
      values.insert(point.variables[static_cast<size_t>(i)]);
    }
    if (values.size() < 2) continue;
    varying.push_back(i);
    terms.push_back({i});
    if (values.size() > 2) terms.push_back({i, i});
  }
  for (size_t i = 0; i < varying.size(); ++i) {
    for (size_t j = i + 1; j < varying.size(); ++j) {
      terms.push_back({varying[i], varying[j]});
    }
  }
  return terms;
}

// With and without a constant, and at most two terms besides.
std::vector<std::vector<Factors>> CandidateLaws(
    absl::Span<const ScalingPoint> points) {
  const std::vector<Factors> terms = CandidateTerms(points);
  std::vector<std::vector<Factors>> laws = {{Factors()}};
  for (size_t i = 0; i < terms.size(); ++i) {
    laws.push_back({terms[i]});
    laws.push_back({Factors(), terms[i]});
    for (size_t j = i + 1; j < terms.size(); ++j) {
      laws.push_back({terms[i], terms[j]});
      laws.push_back({Factors(), terms[i], terms[j]});
    }
  }
  return laws;
}

struct JudgedLaw {
  std::vector<Factors> terms;
  double error = kInfinity;
};

JudgedLaw Choose(const Problem& problem) {
  std::vector<JudgedLaw> laws;
  double smallest = kInfinity;
  for (const std::vector<Factors>& terms : CandidateLaws(problem.points)) {
    // A law that has a coefficient for each point left says nothing.
    if (terms.size() + 1 >= problem.points.size() && terms.size() > 1) continue;
    laws.push_back({terms, LeftOutError(problem, terms)});
    smallest = std::min(smallest, laws.back().error);
  }
  const double enough = std::max(smallest * 1.25, smallest + 0.001);
  JudgedLaw chosen;
  for (const JudgedLaw& law : laws) {
    if (!(law.error <= enough)) continue;
    const auto rank = [](const JudgedLaw& each) {
      return std::make_pair(each.terms.size(), each.error);
    };
    if (chosen.terms.empty() || rank(law) < rank(chosen)) chosen = law;
  }
  return chosen;
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
    sum += term.coefficient * ValueOf(term.factors, variables);
  }
  return sum;
}

absl::optional<ScalingLaw> FitScalingLaw(
    absl::Span<const ScalingPoint> points) {
  if (points.size() < kMinimumPointCount) return absl::nullopt;
  Problem problem = {points, {}};
  double largest = 0;
  for (const ScalingPoint& point : points) {
    largest = std::max(largest, point.value);
  }
  ScalingLaw law;
  if (!(largest > 0)) return law;
  for (const ScalingPoint& point : points) {
    problem.scales.push_back(std::max(point.value, kNegligibleShare * largest));
  }
  const JudgedLaw chosen = Choose(problem);
  if (chosen.terms.empty()) return absl::nullopt;
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
        return a.coefficient * ValueOf(a.factors, corner) >
               b.coefficient * ValueOf(b.factors, corner);
      });
  return law;
}

std::string LawText(const ScalingLaw& law,
                    const std::vector<std::string>& variable_names,
                    LawUnit unit) {
  if (law.terms.empty()) return "0";
  std::vector<std::string> terms;
  for (const ScalingLaw::Term& term : law.terms) {
    std::string text = CoefficientText(term.coefficient, unit);
    if (term.factors.size() == 2 && term.factors[0] == term.factors[1]) {
      absl::StrAppend(&text, " x ",
                      variable_names[static_cast<size_t>(term.factors[0])],
                      "^2");
    } else {
      for (int factor : term.factors) {
        absl::StrAppend(&text, " x ",
                        variable_names[static_cast<size_t>(factor)]);
      }
    }
    terms.push_back(text);
  }
  return absl::StrJoin(terms, " + ");
}

}  // namespace footprint

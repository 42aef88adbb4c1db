#include "footprint/gates/judge/law_judgement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "footprint/base/scaling/scaling_law.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/near_names.h"

namespace footprint {
namespace {

constexpr double kMostPercent = 100;

int64_t WholeNumber(double value) {
  constexpr double kBeyondInt64 = 9223372036854775808.0;
  return value >= kBeyondInt64 ? std::numeric_limits<int64_t>::max()
                               : static_cast<int64_t>(std::llround(value));
}

std::string BytesText(double bytes) {
  return FormatRoundedBytes(WholeNumber(bytes));
}

std::vector<RuledFigure> NoLaw(Decision decision, const std::string& why) {
  RuledFigure figure;
  figure.decision = decision;
  figure.explanation = why;
  return {figure};
}

std::vector<std::string> ArgumentNames(const Scaling& scaling) {
  return {scaling.argument().begin(), scaling.argument().end()};
}

// Appends the benchmark's point. Returns "", or why there is no point.
std::string AddPoint(const std::vector<std::string>& names,
                     const MeasuredSize& size,
                     std::vector<ScalingPoint>* points) {
  ScalingPoint point;
  point.value = static_cast<double>(size.bytes);
  for (const std::string& name : names) {
    const auto found = size.arguments.find(name);
    if (found == size.arguments.end()) {
      std::vector<std::string> known;
      for (const auto& [other, value] : size.arguments) known.push_back(other);
      return absl::StrCat("benchmark \"", size.benchmark,
                          "\" has no argument \"", name, "\"",
                          DidYouMean(name, known),
                          "; name it there by ArgNames, or correct "
                          "scaling.argument");
    }
    const absl::optional<double> value = ParseSize(found->second);
    if (!value.has_value()) {
      return absl::StrCat("argument \"", name, "\" of benchmark \"",
                          size.benchmark, "\" is ", found->second,
                          ", and a law needs numbers above zero; narrow the "
                          "selector to the benchmarks that have them");
    }
    point.variables.push_back(*value);
  }
  points->push_back(point);
  return "";
}

std::set<double> CollectValues(const std::vector<ScalingPoint>& points,
                               size_t variable) {
  std::set<double> values;
  for (const ScalingPoint& point : points) {
    values.insert(point.variables[variable]);
  }
  return values;
}

// One call of JudgeScaling, with a law.
class LawJudge {
 public:
  LawJudge(const Scaling& scaling, std::vector<ScalingPoint> points,
           const ScalingLaw& law)
      : scaling_(scaling),
        names_(ArgumentNames(scaling)),
        points_(std::move(points)),
        law_(law) {}

  std::vector<RuledFigure> Run() {
    if (scaling_.has_max_exponent()) {
      AddExponent();
    }
    if (scaling_.has_max_bytes_per_unit()) {
      AddLimit(MAXIMUM_BYTES_PER_UNIT, BytesPerUnit(),
               scaling_.max_bytes_per_unit(), "bytes per unit");
    }
    if (scaling_.has_max_intercept()) {
      AddLimit(MAXIMUM_INTERCEPT, Intercept(), scaling_.max_intercept(),
               "constant bytes");
    }
    for (const SizeLimit& limit : scaling_.at()) AddPrediction(limit);
    return std::move(figures_);
  }

 private:
  // Is inconclusive if a power above the limit may hold but too few sizes show
  // it.
  void AddExponent() {
    AddLimit(MAXIMUM_EXPONENT, law_.highest_power(), scaling_.max_exponent(),
             "power");
    RuledFigure& figure = figures_.back();
    if (figure.decision != ACCEPT ||
        law_.unproved_power <= scaling_.max_exponent()) {
      return;
    }
    figure.decision = INCONCLUSIVE;
    absl::StrAppend(&figure.explanation, "; a law with a power of ",
                    law_.unproved_power,
                    " may hold as well, since too few values of an argument "
                    "show it: measure more values, above all large ones");
  }

  double Intercept() const {
    for (const ScalingLaw::Term& term : law_.terms) {
      if (term.growth.factors.empty()) return term.coefficient;
    }
    return 0;
  }

  double BytesPerUnit() const {
    std::vector<double> corner;
    double product = 1;
    for (size_t i = 0; i < names_.size(); ++i) {
      corner.push_back(*CollectValues(points_, i).rbegin());
      product *= corner.back();
    }
    return (law_.At(corner) - Intercept()) / product;
  }

  std::string LawWords() const {
    return absl::StrFormat(
        "the law is %s, with an error of %.2g %%, and %.2g %% at the largest "
        "size by the others",
        LawText(law_, names_), kMostPercent * law_.left_out_error,
        kMostPercent * law_.largest_size_error);
  }

  void AddLimit(RuleKind rule, double measured, double limit,
                const char* noun) {
    RuledFigure figure;
    figure.rule = rule;
    figure.decision = measured <= limit ? ACCEPT : REJECT;
    figure.measured = WholeNumber(measured);
    figure.limit = WholeNumber(limit);
    figure.explanation = absl::StrFormat("%s: %s %.6g, at most %.6g",
                                         LawWords(), noun, measured, limit);
    figure.change_to_accept = absl::StrFormat("a limit of %.6g", measured);
    figures_.push_back(figure);
  }

  // Returns a name that no earlier figure has.
  std::string MakeUnique(const std::string& size) const {
    std::string name = size;
    const auto has_name = [&name](const RuledFigure& figure) {
      return figure.size == name;
    };
    for (int i = 2; std::any_of(figures_.begin(), figures_.end(), has_name);
         ++i) {
      name = absl::StrCat(size, " (", i, ")");
    }
    return name;
  }

  void AddPrediction(const SizeLimit& limit) {
    // Reads the size to predict, and how far it is beyond the measured sizes.
    std::vector<double> at;
    std::vector<std::string> words;
    double furthest = 1;
    for (size_t i = 0; i < names_.size(); ++i) {
      for (const Argument& argument : limit.argument()) {
        const absl::optional<double> size = ParseSize(argument.value());
        if (argument.name() != names_[i] || !size.has_value()) continue;
        at.push_back(*size);
        words.push_back(absl::StrCat(names_[i], "=", argument.value()));
        furthest =
            std::max(furthest, *size / *CollectValues(points_, i).rbegin());
      }
    }
    const std::string size = absl::StrJoin(words, " ");
    RuledFigure figure;
    figure.rule = PREDICTED_MAXIMUM;
    figure.size = MakeUnique(size);
    figure.limit = limit.max_bytes();
    if (at.size() != names_.size()) {
      figure.decision = BAD_CONFIGURATION;
      figure.explanation =
          "scaling.at does not give each argument of the law once";
      figures_.push_back(figure);
      return;
    }
    // Judges the range of the prediction.
    const ScalingPrediction prediction =
        PredictByScalingLaw(points_, at).value_or(ScalingPrediction());
    const auto most = static_cast<double>(limit.max_bytes());
    figure.measured = WholeNumber(prediction.value);
    figure.decision = prediction.high <= most  ? ACCEPT
                      : prediction.low <= most ? INCONCLUSIVE
                                               : REJECT;
    figure.explanation = absl::StrFormat(
        "%s; at %s, %.3g times the largest size that was measured, it predicts "
        "%s (%s to %s), at most %s",
        LawWords(), size, furthest, BytesText(prediction.value),
        BytesText(prediction.low), BytesText(prediction.high), BytesText(most));
    if (figure.decision == INCONCLUSIVE) {
      figure.explanation += "; measure nearer to that size, or more sizes";
    }
    figure.change_to_accept =
        absl::StrCat("max_bytes: ", WholeNumber(std::ceil(prediction.high)));
    figures_.push_back(figure);
  }

  const Scaling& scaling_;
  const std::vector<std::string> names_;
  const std::vector<ScalingPoint> points_;
  const ScalingLaw& law_;
  std::vector<RuledFigure> figures_;
};

}  // namespace

absl::optional<double> ParseSize(const std::string& text) {
  double size = 0;
  if (!absl::SimpleAtod(text, &size) || !std::isfinite(size) || !(size > 0)) {
    return absl::nullopt;
  }
  return size;
}

std::vector<RuledFigure> JudgeScaling(const Scaling& scaling,
                                      absl::Span<const MeasuredSize> sizes) {
  const std::vector<std::string> names = ArgumentNames(scaling);
  // Converts the benchmarks to points.
  std::vector<ScalingPoint> points;
  for (const MeasuredSize& size : sizes) {
    const std::string wrong = AddPoint(names, size, &points);
    if (!wrong.empty()) return NoLaw(BAD_CONFIGURATION, wrong);
  }
  // Checks that there are enough sizes, and enough values of each argument.
  if (points.size() < kFewestSizes) {
    return NoLaw(INCONCLUSIVE,
                 absl::StrCat("a law needs at least ", kFewestSizes,
                              " benchmarks, and the selector names ",
                              points.size(), "; measure more sizes"));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::set<double> values = CollectValues(points, i);
    if (values.size() == 1) {
      return NoLaw(BAD_CONFIGURATION,
                   absl::StrCat("argument \"", names[i], "\" is ",
                                *values.begin(), " in all ", points.size(),
                                " benchmarks, so nothing shows how bytes grow "
                                "with it; measure other values, or take it "
                                "out of scaling.argument"));
    }
    if (values.size() < kFewestValues) {
      return NoLaw(
          INCONCLUSIVE,
          absl::StrCat("argument \"", names[i], "\" has ", values.size(),
                       " values, and at least ", kFewestValues,
                       " tell a line from a square; measure more"));
    }
  }
  // Fits the law. One that does not describe the benchmarks judges nothing.
  const absl::optional<ScalingLaw> law = FitScalingLaw(points);
  if (!law.has_value() || law->left_out_error > kMostLawError) {
    return NoLaw(
        INCONCLUSIVE,
        law.has_value()
            ? absl::StrFormat("no law describes the %u benchmarks: the best, "
                              "%s, has an error of %.2g %%, and at most %g %% "
                              "is taken; split the family, or measure sizes "
                              "of one regime",
                              points.size(), LawText(*law, names),
                              kMostPercent * law->left_out_error,
                              kMostPercent * kMostLawError)
            : "no law can be fitted with each benchmark left out in "
              "turn; measure more sizes");
  }
  return LawJudge(scaling, std::move(points), *law).Run();
}

}  // namespace footprint

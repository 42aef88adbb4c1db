#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/threshold_numbers.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {
    {MAXIMUM_RATIO, "max by ratio", "by ratio at most"}};

// Returns whether both selectors name the same single measurement, whatever
// their arguments.
bool IsSame(const Selector& a, const Selector& b) {
  return a.label() == b.label() && a.benchmark() == b.benchmark() &&
         a.phase() == b.phase() && !a.benchmark().empty() &&
         IsLiteral(a.label()) && IsLiteral(a.benchmark()) &&
         IsLiteral(a.phase());
}

// Returns the smallest ratio of four digits that admits `value`.
double RatioFor(int64_t value, int64_t baseline) {
  const double wanted =
      static_cast<double>(value) / static_cast<double>(baseline);
  double unit = std::pow(10, std::floor(std::log10(wanted)) - 3);
  double ratio = std::ceil(wanted / unit) * unit;
  while (RatioLimit(ratio, baseline) < value) ratio += unit;
  return ratio;
}

class RatioRule : public Rule {
 public:
  const char* name() const override { return "ratio"; }
  const char* fields() const override {
    return "`max_ratio { ratio baseline }`";
  }
  const char* meaning() const override {
    return "at most ratio times the baseline's value of the same metric";
  }
  const char* update_policy() const override {
    return "raises it as a maximum; never lowers it, since it states a "
           "design";
  }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return threshold.has_max_ratio();
  }

  void FindMistakes(const Threshold& threshold, bool /*has_environment*/,
                    std::vector<RuleMistake>* mistakes) const override {
    const Ratio& rule = threshold.max_ratio();
    const double ratio = rule.ratio();
    const auto add = [mistakes](const std::string& message) {
      mistakes->push_back({"max_ratio", message});
    };
    // Even with a baseline of 1, no metric can hold so much.
    constexpr double kBeyondInt64 = 9223372036854775808.0;
    if (std::isfinite(ratio) && ratio >= kBeyondInt64) {
      add(absl::StrCat("ratio is ", ratio,
                       ", which every measurement keeps, so it judges nothing; "
                       "give a smaller one"));
    }
    if (IsSame(threshold.selector(), rule.baseline())) {
      add(absl::StrCat("has its own measurement for the baseline, so it ",
                       ratio >= 1 ? "judges nothing" : "never holds",
                       "; name another baseline"));
    }
    // The negated comparison also finds NaN.
    if (!(ratio > 0) || !std::isfinite(ratio)) {
      add(absl::StrCat("ratio is ", ratio,
                       "; it must be a finite number above zero"));
    }
    if (rule.baseline().label().empty() ||
        rule.baseline().benchmark().empty()) {
      add("has no full baseline; give baseline { label: \"//package:target\" "
          "benchmark: \"BM_Name\" }");
    }
  }

  bool LimitsAbove(const Threshold&) const override { return true; }

  const Selector* FindBaseline(const Threshold& threshold) const override {
    return &threshold.max_ratio().baseline();
  }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    if (input.baseline == nullptr) return;
    const int64_t limit =
        RatioLimit(threshold.max_ratio().ratio(), input.baseline->value());
    RuledFigure figure =
        MakeFigure(MAXIMUM_RATIO, input.value <= limit, limit, input);
    figure.determinism =
        std::max(figure.determinism, input.baseline->determinism());
    figures->push_back(figure);
  }

  void Update(const Threshold& threshold, const MeasuredRange& range,
              NumberChange* change) const override {
    if (!range.baseline.has_value()) return;
    if (range.highest >
        RatioLimit(threshold.max_ratio().ratio(), *range.baseline)) {
      change->ratio = RatioFor(range.highest, *range.baseline);
    }
  }
};

}  // namespace

const Rule& GetRatioRule() {
  static const RatioRule rule;
  return rule;
}

}  // namespace footprint

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/memory/saturated_sum.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/gates/judge/number_mistakes.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/threshold_numbers.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {{MINIMUM, "min", "at least"}};

// Returns the minimum that every figure of the metric keeps.
int64_t IdleMinimum(MetricKind metric) {
  return IsNegativeAllowed(metric) ? std::numeric_limits<int64_t>::min() : 0;
}

// Returns a band around the range with the old width, or the range itself if
// that is wider.
std::pair<int64_t, int64_t> CentreBand(MetricKind metric, int64_t old_minimum,
                                       int64_t old_maximum,
                                       const MeasuredRange& range) {
  const int64_t slack = std::max<int64_t>(
      0, SaturatedDifference(SaturatedDifference(old_maximum, old_minimum),
                             SaturatedDifference(range.highest, range.lowest)));
  return {std::max(IdleMinimum(metric),
                   SaturatedDifference(range.lowest, slack / 2)),
          AddUpToLargest(range.highest, slack - slack / 2)};
}

class MinimumRule : public Rule {
 public:
  const char* name() const override { return "minimum"; }
  const char* fields() const override {
    return "`min_bytes`, `min_count`, `min`";
  }
  const char* meaning() const override {
    return "at least this; beside a maximum it makes a band, so that a "
           "saving is kept";
  }
  const char* update_policy() const override {
    return "lowers it to what was measured; centres a band that does not "
           "hold on what was measured";
  }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return FindNumber(threshold, MINIMUM) != nullptr;
  }

  void FindMistakes(const Threshold& threshold, bool /*has_environment*/,
                    std::vector<RuleMistake>* mistakes) const override {
    const NumberField& number = *FindNumber(threshold, MINIMUM);
    if (CheckUnitAndSign(threshold, number, mistakes) &&
        threshold.rule_case() == Threshold::RULE_NOT_SET &&
        number.Get(threshold) == IdleMinimum(threshold.metric())) {
      mistakes->push_back(
          {number.name, DescribeIdleNumber(
                            number.name, absl::StrCat(number.Get(threshold)))});
    }
    FindMistakesOfBand(threshold, number, mistakes);
  }

  // A band without width allows one value only.
  bool AllowsOneValueOnly(const Threshold& threshold) const override {
    const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
    const NumberField* const minimum = FindNumber(threshold, MINIMUM);
    return maximum != nullptr && maximum->unit == minimum->unit &&
           maximum->Get(threshold) == minimum->Get(threshold);
  }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    const int64_t limit = FindNumber(threshold, MINIMUM)->Get(threshold);
    figures->push_back(MakeFigure(MINIMUM, input.value >= limit, limit, input));
  }

  void Update(const Threshold& threshold, const MeasuredRange& range,
              NumberChange* change) const override {
    const ThresholdNumbers old = ReadNumbers(threshold);
    if (old.maximum.has_value()) {
      if (range.lowest >= *old.minimum && range.highest <= *old.maximum) return;
      const auto [minimum, maximum] =
          CentreBand(threshold.metric(), *old.minimum, *old.maximum, range);
      if (minimum != *old.minimum) change->minimum = minimum;
      if (maximum != *old.maximum) change->limit = maximum;
    } else if (range.lowest < *old.minimum) {
      if (range.lowest == IdleMinimum(threshold.metric()) &&
          !threshold.has_max_ratio()) {
        change->refusal = absl::StrCat(
            range.lowest, " was measured, and a minimum of ", range.lowest,
            " would judge nothing; take the threshold away, or "
            "give it another rule");
        return;
      }
      change->minimum = range.lowest;
    }
  }

 private:
  static void FindMistakesOfBand(const Threshold& threshold,
                                 const NumberField& minimum,
                                 std::vector<RuleMistake>* mistakes) {
    if (FindNumber(threshold, EXACT_VALUE) != nullptr) {
      mistakes->push_back(
          {minimum.name,
           absl::StrCat(minimum.name,
                        " beside an exact value says nothing more; take "
                        "one of the two away")});
    }
    const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
    // If the units differ, at least one is wrong, and is reported for itself.
    if (maximum != nullptr && maximum->unit == minimum.unit &&
        maximum->Get(threshold) < minimum.Get(threshold)) {
      mistakes->push_back(
          {minimum.name,
           absl::StrCat("the minimum, ", minimum.Get(threshold),
                        ", is above the maximum, ", maximum->Get(threshold),
                        "; no measurement could pass")});
    }
  }
};

}  // namespace

const Rule& GetMinimumRule() {
  static const MinimumRule rule;
  return rule;
}

}  // namespace footprint

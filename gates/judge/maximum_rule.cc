#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/headroom.h"
#include "footprint/gates/judge/number_mistakes.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/threshold_numbers.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {{MAXIMUM, "max", "at most"}};

class MaximumRule : public Rule {
 public:
  const char* name() const override { return "maximum"; }
  const char* fields() const override {
    return "`max_bytes`, `max_count`, `max`";
  }
  const char* meaning() const override { return "at most this"; }
  const char* update_policy() const override {
    return "raises it to what was measured and the headroom; lowers it "
           "where the file has a headroom";
  }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return FindNumber(threshold, MAXIMUM) != nullptr;
  }

  void FindMistakes(const Threshold& threshold, bool /*has_environment*/,
                    std::vector<RuleMistake>* mistakes) const override {
    const NumberField& number = *FindNumber(threshold, MAXIMUM);
    if (CheckUnitAndSign(threshold, number, mistakes) &&
        number.Get(threshold) == std::numeric_limits<int64_t>::max()) {
      mistakes->push_back(
          {number.name, DescribeIdleNumber(
                            number.name, absl::StrCat(number.Get(threshold)))});
    }
  }

  bool LimitsAbove(const Threshold&) const override { return true; }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    const int64_t limit = FindNumber(threshold, MAXIMUM)->Get(threshold);
    figures->push_back(MakeFigure(MAXIMUM, input.value <= limit, limit, input));
  }

  void Update(const Threshold& threshold, const MeasuredRange& range,
              NumberChange* change) const override {
    // In a band, the minimum's rule moves both ends.
    if (FindNumber(threshold, MINIMUM) != nullptr) return;
    const int64_t old = FindNumber(threshold, MAXIMUM)->Get(threshold);
    const absl::optional<int64_t> wanted =
        ComputeMaximum(range.headroom, threshold.metric(), range.highest);
    if (range.highest > old) {
      change->limit = wanted.value_or(range.highest);
    } else if (wanted.has_value() && *wanted < old) {
      change->limit = *wanted;
    }
  }
};

}  // namespace

const Rule& GetMaximumRule() {
  static const MaximumRule rule;
  return rule;
}

}  // namespace footprint

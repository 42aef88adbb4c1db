#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/number_mistakes.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/threshold_numbers.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {{EXACT_VALUE, "exact", "exactly"}};

class ExactRule : public Rule {
 public:
  const char* name() const override { return "exact value"; }
  const char* fields() const override { return "`exact_bytes`, `exact_count`"; }
  const char* meaning() const override {
    return "this; only in a file that says `environment { ... }`";
  }
  const char* update_policy() const override {
    return "writes what was measured, if that is one value";
  }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return FindNumber(threshold, EXACT_VALUE) != nullptr;
  }

  void FindMistakes(const Threshold& threshold, bool has_environment,
                    std::vector<RuleMistake>* mistakes) const override {
    const NumberField& number = *FindNumber(threshold, EXACT_VALUE);
    if (!has_environment) {
      mistakes->push_back(
          {number.name,
           absl::StrCat(
               number.name,
               " in a file without an environment: exact values hold in the "
               "environment where they were measured only; move it to a file "
               "that says environment { ... }, or use a maximum")});
    }
    CheckUnitAndSign(threshold, number, mistakes);
  }

  bool LimitsAbove(const Threshold&) const override { return true; }
  bool AllowsOneValueOnly(const Threshold&) const override { return true; }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    const int64_t limit = FindNumber(threshold, EXACT_VALUE)->Get(threshold);
    figures->push_back(
        MakeFigure(EXACT_VALUE, input.value == limit, limit, input));
  }

  void Update(const Threshold& threshold, const MeasuredRange& range,
              NumberChange* change) const override {
    change->is_ambiguous = range.lowest != range.highest;
    if (change->is_ambiguous) return;
    if (range.lowest != FindNumber(threshold, EXACT_VALUE)->Get(threshold)) {
      change->limit = range.lowest;
    }
  }
};

}  // namespace

const Rule& GetExactRule() {
  static const ExactRule rule;
  return rule;
}

}  // namespace footprint

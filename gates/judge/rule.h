// One kind of rule that a threshold can have: its fields, its words, what is a
// mistake in it, how it judges, and how the update command changes it.
//
//   for (const Rule* rule : AllRules()) {  // rules.h
//     if (rule->IsIn(threshold)) Show(rule->name(), rule->meaning());
//   }
//
// A new kind of rule is a class in a file of its own (maximum_rule.cc is the
// shortest), a line in rule_list.h, its fields in gate.proto, and its row in
// the table of gates/README.md, which rules_test compares with WriteRuleTable.
//
// Rules have no state: all functions are pure and thread-safe. What they return
// owns its memory; texts that are `const char*` live for ever.

#ifndef FOOTPRINT_GATES_JUDGE_RULE_H_
#define FOOTPRINT_GATES_JUDGE_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/law_judgement.h"
#include "footprint/gates/judge/metric_samples.h"
#include "footprint/gates/judge/ruled_figure.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// The scope says what a rule is held against.
enum class RuleScope {
  kMeasurement,  // each measurement by itself
  kSamples,      // the runs of one measurement
  kFamily,       // all benchmarks that the selector names, together
};

// The input of a judgement. Which members a rule reads depends on its scope.
struct RuleInput {
  int64_t value = 0;  // of kMeasurement
  Determinism determinism = DETERMINISM_UNSPECIFIED;
  const Metric* baseline = nullptr;        // where FindBaseline names one
  const MetricSamples* samples = nullptr;  // of kSamples
  absl::Span<const MeasuredSize> sizes;    // of kFamily
};

struct RuleMistake {
  const char* field;  // of Threshold, where it stands; "": the threshold itself
  std::string message;
};

// How reports speak of the judgements of one kind.
struct JudgementWords {
  RuleKind kind;
  const char* limit;               // before the limit in a table: "max"
  const char* sentence;            // before the limit in a sentence: "at most"
  bool has_metric_unit = true;     // false: the figure is a plain number
  bool states_determinism = true;  // false: a table does not say "of BOUNDED"
};

// The range holds all that one threshold names, as the update command measured
// it.
struct MeasuredRange {
  int64_t lowest = 0;
  int64_t highest = 0;
  absl::optional<int64_t> baseline;  // of a ratio; never zero or less
  Headroom headroom;                 // what a maximum has above `highest`
};

// New numbers of a threshold; those without a value stay as they are.
struct NumberChange {
  absl::optional<int64_t> limit;
  absl::optional<int64_t> minimum;
  absl::optional<double> ratio;
  // The lowest and the highest value differ, so that no exact value holds.
  bool is_ambiguous = false;
  // Why no number can be written; empty: it can.
  std::string refusal;
};

class Rule {
 public:
  virtual ~Rule() = default;

  // Returns texts for people: "maximum"; the fields that state the rule, as
  // markdown; how the sentence "it holds if the measured value is" ends; and
  // what the update command does with it.
  virtual const char* name() const = 0;
  virtual const char* fields() const = 0;
  virtual const char* meaning() const = 0;
  virtual const char* update_policy() const = 0;

  virtual RuleScope scope() const { return RuleScope::kMeasurement; }

  // Returns one entry for each kind of judgement that the rule makes.
  virtual absl::Span<const JudgementWords> words() const = 0;

  // Returns whether the threshold has this rule. The functions below need that.
  virtual bool IsIn(const Threshold& threshold) const = 0;

  // Appends what is wrong with the rule's fields. `has_environment`: the file
  // says in which environment its thresholds hold.
  virtual void FindMistakes(const Threshold& threshold, bool has_environment,
                            std::vector<RuleMistake>* mistakes) const = 0;

  // Returns whether the rule states how much there may be at most, for every
  // run and size.
  virtual bool LimitsAbove(const Threshold&) const { return false; }

  // Returns whether one value alone is allowed, so that only EXACT figures can
  // be judged.
  virtual bool AllowsOneValueOnly(const Threshold&) const { return false; }

  // Returns why the rule needs a blocking limit of the same figure beside it;
  // null if it does not.
  virtual const char* WhyNeedsLimit() const { return nullptr; }

  // Returns the selector of the one measurement to compare with; null if the
  // rule compares with none.
  virtual const Selector* FindBaseline(const Threshold&) const {
    return nullptr;
  }

  // Appends one figure for each judgement. Appends none if the input lacks what
  // the rule compares with, which the caller has reported.
  virtual void Judge(const Threshold& threshold, const RuleInput& input,
                     std::vector<RuledFigure>* figures) const = 0;

  // Returns the numbers that are no limits, for the history: " share 0.95".
  virtual std::string DescribeTerms(const Threshold&) const { return ""; }

  // Sets in `change` what the update command makes of the rule.
  virtual void Update(const Threshold&, const MeasuredRange&,
                      NumberChange*) const {}

 protected:
  // Returns the figure of a measurement and a limit.
  static RuledFigure MakeFigure(RuleKind kind, bool holds, int64_t limit,
                                const RuleInput& input) {
    RuledFigure figure;
    figure.rule = kind;
    figure.decision = holds ? ACCEPT : REJECT;
    figure.measured = input.value;
    figure.limit = limit;
    figure.determinism = input.determinism;
    return figure;
  }
};

}  // namespace footprint

// Tested by rules_test.

#endif  // FOOTPRINT_GATES_JUDGE_RULE_H_

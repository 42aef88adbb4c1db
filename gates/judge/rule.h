// Interface of a kind of rule that a threshold can have: its fields, its texts,
// its mistakes, how it judges, and how the update command changes it.
//
//   for (const Rule* rule : AllRules()) {  // rules.h
//     if (rule->IsIn(threshold)) Show(rule->name(), rule->meaning());
//   }
//
// A new kind of rule is a class in a file of its own (exact_rule.cc is the
// shortest), a line in rule_list.h, its fields in gate.proto, and its row in
// the table of gates/README.md, which rules_test compares with WriteRuleTable.
//
// Rules have no state: all functions are pure and thread-safe. Their results
// own their memory; `const char*` texts live for ever.

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

// The scope says what a rule judges.
enum class RuleScope {
  kMeasurement,  // each measurement by itself
  kSamples,      // the runs of one measurement
  kFamily,       // all benchmarks that the selector names, together
};

// The input of a judgement. Which members a rule reads depends on its scope.
struct RuleInput {
  int64_t value = 0;  // for kMeasurement
  Determinism determinism = DETERMINISM_UNSPECIFIED;
  const Metric* baseline = nullptr;        // if FindBaseline names one
  const MetricSamples* samples = nullptr;  // for kSamples
  absl::Span<const MeasuredSize> sizes;    // for kFamily
};

struct RuleMistake {
  const char* field;  // field of Threshold; "": the threshold itself
  std::string message;
};

// The words in which reports describe the judgements of one kind.
struct JudgementWords {
  RuleKind kind;
  const char* limit;               // before the limit in a table: "max"
  const char* sentence;            // before the limit in a sentence: "at most"
  bool has_metric_unit = true;     // false: the figure is a plain number
  bool states_determinism = true;  // false: a table does not say "of BOUNDED"
};

// The range of all values that one threshold names, as the update command
// measured them.
struct MeasuredRange {
  int64_t lowest = 0;
  int64_t highest = 0;
  absl::optional<int64_t> baseline;  // the ratio's baseline, above zero
  // The distance of a maximum above `highest`.
  Headroom headroom;
};

// The new numbers of a threshold. A number without a value stays as it is.
struct NumberChange {
  absl::optional<int64_t> limit;
  absl::optional<int64_t> minimum;
  absl::optional<double> ratio;
  // Whether the lowest and the highest value differ, so that no exact value
  // holds.
  bool is_ambiguous = false;
  // Why no number can be written; empty if one can.
  std::string refusal;
};

class Rule {
 public:
  virtual ~Rule() = default;

  // These return texts for people: the name, "maximum"; the fields that state
  // the rule, in Markdown; the end of the sentence "it holds if the measured
  // value is"; and what the update command does with the rule.
  virtual const char* name() const = 0;
  virtual const char* fields() const = 0;
  virtual const char* meaning() const = 0;
  virtual const char* update_policy() const = 0;

  virtual RuleScope scope() const { return RuleScope::kMeasurement; }

  // Returns one entry for each kind of judgement that the rule makes.
  virtual absl::Span<const JudgementWords> words() const = 0;

  // Returns whether the threshold has this rule. The functions below require
  // it.
  virtual bool IsIn(const Threshold& threshold) const = 0;

  // Appends the mistakes in the rule's fields. `has_environment` says whether
  // the file names the environment in which its thresholds hold.
  virtual void FindMistakes(const Threshold& threshold, bool has_environment,
                            std::vector<RuleMistake>* mistakes) const = 0;

  // Returns whether the rule states a maximum for every run and size.
  virtual bool LimitsAbove(const Threshold&) const { return false; }

  // Returns whether the rule allows one value only, so that it can judge only
  // EXACT figures.
  virtual bool AllowsOneValueOnly(const Threshold&) const { return false; }

  // Returns why the rule needs an additional blocking limit of the same figure;
  // null if it does not.
  virtual const char* WhyNeedsLimit() const { return nullptr; }

  // Returns the selector of the one measurement to compare with; null if the
  // rule compares with none.
  virtual const Selector* FindBaseline(const Threshold&) const {
    return nullptr;
  }

  // Appends one figure for each judgement. Appends no figure if the input lacks
  // the value to compare with, which the caller has reported.
  virtual void Judge(const Threshold& threshold, const RuleInput& input,
                     std::vector<RuledFigure>* figures) const = 0;

  // Returns the numbers that are not limits, for the history: " share 0.95".
  virtual std::string DescribeTerms(const Threshold&) const { return ""; }

  // Sets in `change` the numbers that the update command writes for the rule.
  virtual void Update(const Threshold&, const MeasuredRange&,
                      NumberChange*) const {}

 protected:
  // Returns a figure that compares the input's value with a limit.
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

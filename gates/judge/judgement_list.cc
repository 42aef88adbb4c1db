#include "footprint/gates/judge/judgement_list.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

void JudgementList::Add(const Measurement& found, size_t source, int number,
                        const RuledFigure& figure, int part) {
  Ruling ruling;
  ruling.measurement = found;
  ruling.source = source;
  ruling.threshold = number;
  ruling.rule = figure.rule;
  ruling.measured = figure.measured;
  ruling.limit = figure.limit;
  ruling.holds = figure.decision == ACCEPT;
  ruling.part = static_cast<int16_t>(part);
  ruling.determinism = figure.determinism;
  if (!figure.explanation.empty() || !figure.change_to_accept.empty()) {
    ruling.figure = static_cast<int>(figures_.size());
    figures_.push_back(figure);
  }
  rulings_.push_back(ruling);
}

void JudgementList::MarkShared(size_t first) {
  for (size_t i = first; i < rulings_.size(); ++i) rulings_[i].is_shared = true;
}

JudgementList::Key JudgementList::KeyOfRuling(const Ruling& ruling) const {
  return {MakeKey(ruling.measurement, ThresholdAt(ruling).metric()),
          static_cast<int>(ruling.rule), ruling.part};
}

void JudgementList::Write(Verdict* verdict) {
  std::stable_sort(rulings_.begin(), rulings_.end(),
                   [this](const Ruling& a, const Ruling& b) {
                     return KeyOfRuling(a) < KeyOfRuling(b);
                   });
  verdict->mutable_judgements()->Reserve(static_cast<int>(rulings_.size()));
  for (size_t i = 0; i < rulings_.size(); ++i) {
    if (i > 0 && KeyOfRuling(rulings_[i - 1]) == KeyOfRuling(rulings_[i])) {
      AddConflict(rulings_[i - 1], rulings_[i], verdict);
    }
    WriteJudgement(rulings_[i], verdict);
  }
}

void JudgementList::AddConflict(const Ruling& first, const Ruling& second,
                                Verdict* verdict) const {
  AddProblem(
      BAD_CONFIGURATION,
      sources_[second.source].DescribeLocation(second.threshold),
      absl::StrCat("is a second rule of the same sort for ",
                   SchemaNameOfMetric(ThresholdAt(second).metric()), " of ",
                   index_.Describe(second.measurement), "; the other is at ",
                   sources_[first.source].DescribeLocation(first.threshold),
                   ", and neither selector names a part of what the other "
                   "names; narrow one of the two"),
      verdict);
}

void JudgementList::WriteJudgement(const Ruling& ruling,
                                   Verdict* verdict) const {
  const Measurement& found = ruling.measurement;
  const Threshold& threshold = ThresholdAt(ruling);
  Judgement* const judgement = verdict->add_judgements();
  judgement->set_label(index_.ProfileAt(found.profile).label());
  judgement->set_benchmark(index_.BenchmarkAt(found).name());
  judgement->set_phase(index_.PhaseAt(found));
  judgement->set_metric(threshold.metric());
  judgement->set_measured(ruling.measured);
  judgement->set_limit(ruling.limit);
  judgement->set_rule(ruling.rule);
  judgement->set_severity(IsBlocking(threshold) ? BLOCK : threshold.severity());
  judgement->set_decision(ruling.holds ? ACCEPT : REJECT);
  judgement->set_threshold_location(
      sources_[ruling.source].DescribeLocation(ruling.threshold));
  judgement->set_determinism(ruling.determinism);
  const RuledFigure* const figure =
      ruling.figure < 0 ? nullptr
                        : &figures_[static_cast<size_t>(ruling.figure)];
  if (figure != nullptr) {
    judgement->set_explanation(figure->explanation);
    judgement->set_size(figure->size);
  }
  if (ruling.holds) return;
  if (figure != nullptr) {
    // The update command cannot change such a number.
    judgement->set_command_to_accept(
        absl::StrCat("an edit of ", judgement->threshold_location(), ": ",
                     figure->change_to_accept));
    return;
  }
  // A changed limit holds for all benchmarks that the threshold names.
  const Selector& selector = threshold.selector();
  judgement->set_command_to_accept(command_.ToAccept(
      ruling.is_shared ? selector.label() : EscapeGlob(judgement->label()),
      ruling.is_shared ? selector.benchmark()
                       : EscapeGlob(judgement->benchmark()),
      ruling.measured > ruling.limit));
}

}  // namespace footprint

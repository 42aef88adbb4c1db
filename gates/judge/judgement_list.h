// Collects the judgements of a verdict, rule by rule.
//
//   JudgementList list(index, sources, command);
//   list.Add(found, source, number, figure);
//   list.Write(&verdict);
//
// Keeps references to its arguments, which must outlive it. Thread-compatible.
// Memory: about 100 bytes a judgement, and its texts. Time: one sort.

#ifndef FOOTPRINT_GATES_JUDGE_JUDGEMENT_LIST_H_
#define FOOTPRINT_GATES_JUDGE_JUDGEMENT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/ruled_figure.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/update_command.h"

namespace footprint {

class JudgementList {
 public:
  JudgementList(const MeasurementIndex& index,
                absl::Span<const ThresholdSource> sources,
                const UpdateCommand& command)
      : index_(index), sources_(sources), command_(command) {}

  size_t size() const { return rulings_.size(); }

  // Adds a figure that is ACCEPT or REJECT. `part` numbers the figures if one
  // rule gives several for one measurement.
  void Add(const Measurement& found, size_t source, int number,
           const RuledFigure& figure, int part = 0);

  // Marks the judgements from `first` on: their threshold names several
  // benchmarks.
  void MarkShared(size_t first);

  // Writes the judgements in the order of their measurements, and a problem for
  // each further rule of the same sort on one measurement.
  void Write(Verdict* verdict);

 private:
  // The result of one rule for one measurement, before it becomes a Judgement.
  struct Ruling {
    Measurement measurement;
    size_t source = 0;
    int threshold = 0;
    RuleKind rule = RULE_KIND_UNSPECIFIED;
    int64_t measured = 0;
    int64_t limit = 0;
    int figure = -1;  // index in figures_, or -1 if it has no texts
    bool holds = false;
    bool is_shared = false;  // the threshold names other benchmarks too
    int16_t part = 0;
    Determinism determinism = DETERMINISM_UNSPECIFIED;
  };
  using Key = std::tuple<MeasurementKey, int, int>;

  const Threshold& ThresholdAt(const Ruling& ruling) const {
    return sources_[ruling.source].file.threshold(ruling.threshold);
  }
  // Returns the key that all rules of one sort on one measurement share.
  Key KeyOfRuling(const Ruling& ruling) const;
  void AddConflict(const Ruling& first, const Ruling& second,
                   Verdict* verdict) const;
  void WriteJudgement(const Ruling& ruling, Verdict* verdict) const;

  const MeasurementIndex& index_;
  const absl::Span<const ThresholdSource> sources_;
  const UpdateCommand& command_;
  std::vector<Ruling> rulings_;
  std::vector<RuledFigure> figures_;
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_JUDGEMENT_LIST_H_

// Judges the law by which bytes grow with a benchmark's arguments.
//
//   std::vector<MeasuredSize> sizes;  // one for each benchmark of the family
//   sizes.push_back({"BM_Fit/rows:1000", {{"rows", "1000"}}, 80000});
//   for (const RuledFigure& figure : JudgeScaling(scaling, sizes)) ...
//
// Pure function, thread-safe. Memory and time: those of the fit (base/scaling).

#ifndef FOOTPRINT_GATES_JUDGE_LAW_JUDGEMENT_H_
#define FOOTPRINT_GATES_JUDGE_LAW_JUDGEMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/ruled_figure.h"

namespace footprint {

struct MeasuredSize {
  std::string benchmark;
  std::map<std::string, std::string> arguments;
  int64_t bytes = 0;
};

// Fewer sizes cannot determine a law of two terms. Fewer values of an argument
// cannot tell a line from a square.
inline constexpr size_t kFewestSizes = 4;
inline constexpr size_t kFewestValues = 3;
// The largest allowed error of a law at benchmarks that it was not fitted to:
// the root mean square of the relative errors.
inline constexpr double kMostLawError = 0.1;

// Returns the number in `text`, or nullopt unless it is a number above zero, as
// the arguments of a law must be.
absl::optional<double> ParseSize(const std::string& text);

// Returns one figure for each rule that `scaling` has, in the order of the
// schema. If there is no law, returns one figure without a rule that says why:
// BAD_CONFIGURATION if an argument is missing, is not a number above zero, or
// is the same everywhere; INCONCLUSIVE if the benchmarks or the values of an
// argument are too few, or if they follow no law. A size limit that does not
// give each argument once gives BAD_CONFIGURATION.
std::vector<RuledFigure> JudgeScaling(const Scaling& scaling,
                                      absl::Span<const MeasuredSize> sizes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_LAW_JUDGEMENT_H_

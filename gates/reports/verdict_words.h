// A verdict in the words that its reports share.
//
//   for (const Judgement& judgement : verdict.judgements()) {
//     Show(MakeReportRow(judgement));            // "BM_Fit", "peak live", ...
//     Show(DescribeViolation(judgement));
//   }
//
// Nothing is escaped yet. Pure functions, thread-safe; results copy what they
// name, which is their memory.

#ifndef FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_
#define FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// How much of a verdict a report tells, and for which terminal.
struct ReportOptions {
  // Every judgement; else a line a deployment, and what is not accepted.
  bool has_every_rule = false;
  // The width of the text report, in characters.
  size_t width = 80;
  bool has_colour = false;
};

// The line that people read first, and the last one of the text report: the
// decision, and the numbers of its deployments, rules and problems. Without a
// newline.
std::string SummaryLine(const Verdict& verdict);

// A judgement's decision and severity in one.
enum class Outcome { kHolds, kRejects, kWarns, kIsRecorded };

Outcome FindOutcome(const Judgement& judgement);
// Returns whether it is told in full in every report: it rejects or warns.
bool IsViolation(const Judgement& judgement);
int CountJudgements(const Verdict& verdict, Outcome outcome);

// "accept", "REJECT", "WARN" or "audit".
const char* WordOfOutcome(Outcome outcome);
// The decision, or "NOT JUDGED" of what leaves the verdict as it is.
std::string WordOfProblem(const Problem& problem);

// The benchmark, with its phase in brackets.
std::string DescribeMeasured(const Judgement& judgement);

// The cells of a judgement in a table.
using ReportRow = std::array<std::string, 6>;
inline constexpr std::array<const char*, 6> kReportHeadings = {
    "benchmark", "metric", "measured", "limit", "margin", "verdict"};

ReportRow MakeReportRow(const Judgement& judgement);

// A value of the metric, rounded: "1.50 MiB", "1,200".
std::string ShortMetricText(MetricKind metric, int64_t value);

// Returns how far the measured value is from the limit, without a sign: "512
// KiB".
std::string DistanceText(const Judgement& judgement);

// " of BOUNDED" of a limit on a metric that is not EXACT, else "".
std::string DeterminismSuffix(const Judgement& judgement);

// "deployment benchmark metric: value, limit, excess".
std::string DescribeViolation(const Judgement& judgement);

// "accept it with: COMMAND", or "" where no command does: a trial's budget.
std::string HowToAccept(const Judgement& judgement);

// "memo plan: 5 values, 5 loads planned", one for each remark of the producer
// with this label.
std::vector<std::string> FindNotes(const Verdict& verdict,
                                   const std::string& label);

// Returns whether the judgement `index` is the first of its deployment:
// judgements of one stand together.
bool BeginsDeployment(const Verdict& verdict, int index);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_

// Writes parts of a verdict in the words that all reports share.
//
//   for (const Judgement& judgement : verdict.judgements()) {
//     Show(MakeJudgementRow(judgement));  // "BM_Fit", "peak live", ...
//     Show(DescribeViolation(judgement));
//   }
//
// The texts are not escaped. Pure functions, thread-safe; results own their
// texts.

#ifndef FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_
#define FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/report/report_text.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// How much of a verdict a report contains, and the terminal that it is for.
struct ReportOptions : ReportTextOptions {
  // If true, a report shows every judgement. Otherwise it has a line for each
  // deployment, and each rejection, warning and problem.
  bool has_every_rule = false;
};

// Returns the last line of the text report, which people read first: the
// decision, and the numbers of deployments, benchmarks, rules, rejections,
// warnings and problems. It has no newline.
std::string SummaryLine(const Verdict& verdict);

// The outcome of a judgement: its decision and severity together.
enum class Outcome { kHolds, kRejects, kWarns, kIsRecorded };

// Returns the outcome of a judgement.
Outcome FindOutcome(const Judgement& judgement);
// Returns whether the judgement rejects or warns, so that every report shows it
// in full.
bool IsViolation(const Judgement& judgement);
int CountJudgements(const Verdict& verdict, Outcome outcome);

// Returns "accept", "REJECT", "WARN" or "audit".
const char* WordOfOutcome(Outcome outcome);
// Returns the problem's decision, or "NOT JUDGED" if the problem does not
// change the verdict.
std::string WordOfProblem(const Problem& problem);

// Returns the benchmark, with its phase in brackets.
std::string DescribeMeasured(const Judgement& judgement);

// The cells of a judgement in a table.
using JudgementRow = std::array<std::string, 6>;
inline constexpr std::array<const char*, 6> kJudgementHeadings = {
    "benchmark", "metric", "measured", "limit", "margin", "verdict"};

// Returns the cells of a judgement, in the order of kJudgementHeadings.
JudgementRow MakeJudgementRow(const Judgement& judgement);

// Returns a rounded value of the metric: "1.50 MiB", "1,200".
std::string ShortMetricText(MetricKind metric, int64_t value);

// Returns how far the measured value is from the limit, without a sign: "512
// KiB".
std::string DistanceText(const Judgement& judgement);

// Returns " of BOUNDED" or " of STATISTICAL" for a metric that is not EXACT,
// else "".
std::string DeterminismSuffix(const Judgement& judgement);

// Returns "deployment benchmark: metric is VALUE, limit LIMIT, MARGIN
// (FILE:LINE)" and, if there is one, the explanation after a colon.
std::string DescribeViolation(const Judgement& judgement);

// Returns "accept it with: COMMAND", or "" if no command does, as for a trial's
// budget.
std::string HowToAccept(const Judgement& judgement);

// Returns a line for each remark of the producer with this label: "memo plan: 5
// values, 5 loads planned".
std::vector<std::string> FindNotes(const Verdict& verdict,
                                   const std::string& label);

// Returns whether the judgement `index` is the first of its deployment, whose
// judgements are contiguous.
bool BeginsDeployment(const Verdict& verdict, int index);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_VERDICT_WORDS_H_

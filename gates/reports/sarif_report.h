// A verdict as SARIF 2.1.0, for code scanning and editors.
//
//   WriteFile("verdict.sarif", WriteSarifReport(verdict, options));
//
// A result for each violation and problem, at the line of its limit; on demand
// one for each rule that holds (kind "pass"). Each has a fingerprint that stays
// when lines move. The deployments with their margins are properties of the
// run. At most kSarifMostResults results, as GitHub takes of a run: findings
// before what holds, those that reject first; a notification tells how many are
// left out.
//
// Pure function, thread-safe. Memory: the report, three times.

#ifndef FOOTPRINT_GATES_REPORTS_SARIF_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_SARIF_REPORT_H_

#include <cstddef>
#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

inline constexpr size_t kSarifMostResults = 25000;

std::string WriteSarifReport(const Verdict& verdict,
                             const ReportOptions& options);
// The same with another number in the place of kSarifMostResults.
std::string WriteSarifReportOfAtMost(size_t most_results,
                                     const Verdict& verdict,
                                     const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_SARIF_REPORT_H_

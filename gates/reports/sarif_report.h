// Writes a verdict as SARIF 2.1.0, for code scanning and editors.
//
//   WriteFile("verdict.sarif", WriteSarifReport(verdict, options));
//
// Each violation and problem is a result at the line of its limit; if the
// options want it, so is each rule that holds (kind "pass") or is recorded only
// (level "note"). Each result has a fingerprint that stays the same when lines
// move. The deployments with their margins are properties of the run. A run has
// at most kSarifMostResults results, the most that GitHub accepts: rejections
// first, then other findings, then rules that hold. A notification says how
// many are left out.
//
// Pure function, thread-safe. Memory: three times the report.

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
// Does the same with `most_results` in place of kSarifMostResults.
std::string WriteSarifReportOfAtMost(size_t most_results,
                                     const Verdict& verdict,
                                     const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_SARIF_REPORT_H_

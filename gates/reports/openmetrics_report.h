// A verdict as OpenMetrics 1.0 text, for dashboards and GitLab's metrics
// report.
//
//   WriteFile("metrics.txt", WriteOpenmetricsReport(verdict, options));
//
// Of each violation, on demand of every rule: gauges
// footprint_gate_measured_bytes, _limit_bytes and _holds (of metrics that count
// calls _measured_calls and _limit_calls; of laws' exponents _measured_exponent
// and _limit_exponent), labelled with deployment, benchmark, phase, metric,
// rule and limit. Besides, footprint_gate_decision (the exit status), each
// deployment's nearest margin, and violations, problems and remarks as infos.
//
// Pure function, thread-safe. Memory: the report, twice.

#ifndef FOOTPRINT_GATES_REPORTS_OPENMETRICS_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_OPENMETRICS_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteOpenmetricsReport(const Verdict& verdict,
                                   const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_OPENMETRICS_REPORT_H_

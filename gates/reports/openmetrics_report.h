// Writes a verdict as OpenMetrics 1.0 text, for dashboards and GitLab's metrics
// report.
//
//   WriteFile("metrics.txt", WriteOpenmetricsReport(verdict, options));
//
// The text has gauges for each violation or, if the options want it, for every
// rule: footprint_gate_measured_bytes, _limit_bytes and _holds, labelled with
// deployment, benchmark, phase, metric, rule and limit_location, and for the
// prediction of a law with size. Metrics that count calls have _measured_calls
// and _limit_calls, exponents of laws _measured_exponent and _limit_exponent.
// It also has footprint_gate_decision (the exit status), and the number of
// rules and the nearest margin of each deployment. The verdict, violations,
// problems and, with every rule, remarks are infos.
//
// Pure function, thread-safe. Memory: twice the report.

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

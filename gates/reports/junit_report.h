// Writes a verdict as JUnit's XML, for CI systems.
//
//   std::string xml = WriteJunitReport(verdict, options);
//
// Each deployment that was judged is a test suite, and all problems together
// are one more. The judgements of a deployment must be contiguous. If the
// options want every rule, a suite has a test case for each rule. Otherwise it
// has one for the deployment, with its nearest limit, and one for each rule
// that rejects or warns. Pure function, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_REPORTS_JUNIT_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_JUNIT_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteJunitReport(const Verdict& verdict,
                             const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_JUNIT_REPORT_H_

// A verdict as JUnit's XML, for CI systems.
//
//   std::string xml = WriteJunitReport(verdict);
//
// A test suite a deployment and one of the problems, a test case a rule. Pure
// function, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_REPORT_JUNIT_REPORT_H_
#define FOOTPRINT_GATES_REPORT_JUNIT_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

std::string WriteJunitReport(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORT_JUNIT_REPORT_H_

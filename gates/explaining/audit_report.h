// Makes the report of an audit.
//
//   std::cout << ReportText(MakeAuditReport(findings));
//
// It is a list with a row for each finding, and counts the findings of each
// kind. Pure; thread-safe. Memory: the texts.

#ifndef FOOTPRINT_GATES_EXPLAINING_AUDIT_REPORT_H_
#define FOOTPRINT_GATES_EXPLAINING_AUDIT_REPORT_H_

#include <vector>

#include "footprint/base/report/report.h"
#include "footprint/gates/explaining/gate_audit.h"

namespace footprint {

Report MakeAuditReport(const std::vector<AuditFinding>& findings);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_AUDIT_REPORT_H_

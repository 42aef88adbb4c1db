// Writes the findings of an audit for a terminal and for programs.
//
//   std::cout << WriteAuditText(findings, options);
//
// Lines are no wider than `options.width`; a command has its own lines. Pure
// functions, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_EXPLAINING_AUDIT_TEXT_H_
#define FOOTPRINT_GATES_EXPLAINING_AUDIT_TEXT_H_

#include <string>
#include <vector>

#include "footprint/gates/explaining/gate_audit.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

// Returns a paragraph for each finding, and a last line that begins with
// "found" or "nothing found".
std::string WriteAuditText(const std::vector<AuditFinding>& findings,
                           const ReportOptions& options);

// Returns {"findings": [{"kind", "location", "message"}]}.
std::string WriteAuditJson(const std::vector<AuditFinding>& findings);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_AUDIT_TEXT_H_

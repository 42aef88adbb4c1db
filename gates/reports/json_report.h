// Writes a verdict as JSON, for programs.
//
//   std::string json = WriteJsonReport(verdict, options);
//
// The report is one object: "deployments", each with its number of rules and
// its nearest limit, and the fields of gate.proto's Verdict except `overrides`,
// with numbers as numbers and enumerators by name. Unless the options want
// every rule, it has only the judgements that reject or warn, and no remarks.
// The text is ASCII: other characters are escaped, and a byte that is not UTF-8
// becomes U+FFFD. Pure function, thread-safe. Memory: a tree of the values
// until the text is written, and the text.

#ifndef FOOTPRINT_GATES_REPORTS_JSON_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_JSON_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteJsonReport(const Verdict& verdict,
                            const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_JSON_REPORT_H_

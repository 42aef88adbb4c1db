// A verdict as JSON, for programs.
//
//   std::string json = WriteJsonReport(verdict, options);
//
// One object: "deployments", each with its rules and its nearest limit, and the
// fields of gate.proto's Verdict, numbers as numbers, enumerators by name.
// Unless every rule is asked for, it has the judgements that reject or warn. It
// is of ASCII characters only: others are escaped, and a byte that is no UTF-8
// becomes U+FFFD. Pure function, thread-safe. Memory: a tree of the values,
// which lives until the text is written, and the text.

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

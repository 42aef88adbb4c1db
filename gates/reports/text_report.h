// Writes a verdict for a person at a terminal.
//
//   std::fputs(WriteTextReport(verdict, options).c_str(), stdout);
//
// The report begins with a line for each deployment: the number of its rules,
// the nearest margin, and its limit as FILE:LINE. With every rule it instead
// has a line for each rule, with exact figures. Then come rejections and
// warnings in full, with the command that would accept them; problems; and a
// last line that begins with the decision. Lines are no wider than
// `options.width`: names are wrapped, or shortened in the middle if that loses
// no number. Pure function, thread-safe. Memory: the text and the cells of its
// tables.

#ifndef FOOTPRINT_GATES_REPORTS_TEXT_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_TEXT_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteTextReport(const Verdict& verdict,
                            const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_TEXT_REPORT_H_

// A verdict for a person at a terminal.
//
//   std::fputs(WriteTextReport(verdict, options).c_str(), stdout);
//
// A line a deployment: its rules, the nearest margin and the limit that has it,
// as FILE:LINE; or, with every rule, each with its exact figures. Then what was
// rejected or warned, in full, with the command that would accept it; problems;
// and a last line that begins with the decision. Lines are no wider than
// `options.width`: names are wrapped, or shortened in the middle where that
// loses no number. Pure function, thread-safe. Memory: the text
// and the cells of its tables.

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

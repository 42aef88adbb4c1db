// A verdict for a person at a terminal.
//
//   std::fputs(WriteTextReport(verdict).c_str(), stdout);
//
// A table by deployment, with rounded and exact figures; what was rejected,
// with the excess and the command that would accept it; problems; and a last
// line that begins with the decision. Pure functions, thread-safe. Memory: the
// text and the cells of its tables.

#ifndef FOOTPRINT_GATES_REPORT_TEXT_REPORT_H_
#define FOOTPRINT_GATES_REPORT_TEXT_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

std::string WriteTextReport(const Verdict& verdict);

// The same in colour, for terminals.
std::string WriteColouredReport(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORT_TEXT_REPORT_H_

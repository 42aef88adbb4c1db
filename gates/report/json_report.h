// A verdict as JSON, for programs.
//
//   std::string json = WriteJsonReport(verdict);
//
// One object with the fields of gate.proto's Verdict, numbers as numbers,
// enumerators by name. It is of ASCII characters only: others are escaped, and
// a byte that is no UTF-8 becomes U+FFFD. Pure function, thread-safe.

#ifndef FOOTPRINT_GATES_REPORT_JSON_REPORT_H_
#define FOOTPRINT_GATES_REPORT_JSON_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

std::string WriteJsonReport(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORT_JSON_REPORT_H_

// A verdict as Markdown, for merge requests.
//
//   std::string page = WriteMarkdownReport(verdict);
//
// The tables of the text report, then what was rejected and problems. Pure
// function, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_REPORT_MARKDOWN_REPORT_H_
#define FOOTPRINT_GATES_REPORT_MARKDOWN_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

std::string WriteMarkdownReport(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORT_MARKDOWN_REPORT_H_

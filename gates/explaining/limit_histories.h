// Adds a section to a gate's page that shows how its limits moved.
//
//   AddLimitHistories(input, &page);
//
// Shows the limits that changed most in a chart, and every change with its
// reason in a folded table. Adds nothing if no limit ever changed. Thread-safe
// for different pages. Keeps no reference to `input`.

#ifndef FOOTPRINT_GATES_EXPLAINING_LIMIT_HISTORIES_H_
#define FOOTPRINT_GATES_EXPLAINING_LIMIT_HISTORIES_H_

#include <string>

#include "footprint/base/page/page.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

// Adds the chart and the table to `page`.
void AddLimitHistories(const GateInput& input, Page* page);

// Returns the file's name and the line of "folder/file:line".
std::string FileNameAndLine(const std::string& location);

}  // namespace footprint

// Tested by gate_page_test.

#endif  // FOOTPRINT_GATES_EXPLAINING_LIMIT_HISTORIES_H_

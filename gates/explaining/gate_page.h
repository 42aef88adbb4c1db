// Writes a verdict as one self-contained page: the decisions, the smallest
// margins, memory by phase and by size, and the history of each limit.
//
//   absl::Status status = ReplaceFile(
//       "gates.html", WriteGatePage(input, verdict), ToDisk::kFlush);
//
// All names and messages are escaped; equal input gives equal bytes. Pure
// function, thread-safe. Memory: three times the page. Size and time: about 150
// bytes a judgement; a page of 10,000 judgements takes well below 2 MB and 2 s.

#ifndef FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_
#define FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

// Returns the HTML of the page. `verdict` must be the verdict on `input`.
std::string WriteGatePage(const GateInput& input, const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_

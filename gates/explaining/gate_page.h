// A verdict as one page that needs nothing else: what was decided, the nearest
// margins, memory by phase and by size, and how each limit came to be.
//
//   absl::Status status = ReplaceFile(
//       "gates.html", WriteGatePage(input, verdict), ToDisk::kFlush);
//
// Any name and message is safe in it; equal input gives equal bytes. Pure
// function, thread-safe. Memory: the page, three times. Size and time: about
// 150 bytes a judgement; 10,000 in well below 2 MB and 2 s.

#ifndef FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_
#define FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

std::string WriteGatePage(const GateInput& input, const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GATE_PAGE_H_

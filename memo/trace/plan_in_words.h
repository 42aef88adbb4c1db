// A plan in a line, for standard error and for a profile's note.
//
//   std::cerr << "memo: " << PlanInWords(trace.plan()) << "\n";
//
// Thread-safe: no state is kept. Memory: the line.

#ifndef FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_
#define FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_

#include <string>

#include "footprint/memo/schedule/memo_trace.pb.h"

namespace footprint {

// "optimal", or how far above the least load cost there is the plan can be: "at
// most 12 % above the least possible".
std::string ProofInWords(const MemoPlan& plan);

// Returns the plan in words; empty where nothing was planned.
std::string PlanInWords(const MemoPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_

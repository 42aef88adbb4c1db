// Describes a plan in one line, for standard error and for a profile's note.
//
//   std::cerr << "memo: " << PlanInWords(trace.plan()) << "\n";
//
// Thread-safe, since it keeps no state. Memory: the line.

#ifndef FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_
#define FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_

#include <string>

#include "footprint/memo/schedule/memo_trace.pb.h"

namespace footprint {

// Returns "optimal", how far the plan may be above the least load cost ("at
// most 12 % above the least possible"), or "not proved optimal" if no bound is
// known.
std::string ProofInWords(const MemoPlan& plan);

// Returns the plan in words; empty if nothing was planned.
std::string PlanInWords(const MemoPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_TRACE_PLAN_IN_WORDS_H_

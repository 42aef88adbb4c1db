// Shows a plan and what happened as a page: which value was alive at which
// cell, the planned and the measured peak, and every load and eviction.
//
//   absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile("trace.binpb");
//   if (!trace.ok()) return trace.status();
//   absl::Status status = WriteOutputFile("trace.html", TracePage(*trace));
//
// The page needs no network (//base/page). Pure: the page copies the trace's
// texts. Thread-safe. Memory: the page. Time: at most quadratic in the number
// of loads.

#ifndef FOOTPRINT_MEMO_TRACE_TRACE_PAGE_H_
#define FOOTPRINT_MEMO_TRACE_TRACE_PAGE_H_

#include <string>

#include "footprint/memo/schedule/memo_trace.pb.h"

namespace footprint {

std::string TracePage(const MemoTrace& trace);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_TRACE_TRACE_PAGE_H_

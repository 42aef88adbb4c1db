// Writes plans and traces as text for people and as JSON for programs.
//
//   std::cout << PlanText(trace.plan());     // what a run would do
//   std::cout << TraceText(trace);           // that, and what happened
//   absl::Status status = WriteTrace(trace, "run.json");
//
// JSON has the fields of memo_trace.proto; see //base/text:message_json.
// Thread-safe; texts are copies. Memory: the text.

#ifndef FOOTPRINT_MEMO_TRACE_TRACE_TEXT_H_
#define FOOTPRINT_MEMO_TRACE_TRACE_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "footprint/memo/schedule/memo_trace.pb.h"

namespace footprint {

// Returns the plan in one line, then each value with its size, then each cell
// with the loads before it and the evictions after it.
std::string PlanText(const MemoPlan& plan);
std::string PlanJson(const MemoPlan& plan);

// Returns the plan, then each event, then the number of loads and the peak.
// TraceJson adds the schema version.
std::string TraceText(const MemoTrace& trace);
std::string TraceJson(const MemoTrace& trace);

// Writes text if the path ends in ".txt", JSON if it ends in ".json", and
// otherwise the file that ReadMemoTraceFile reads. Replaces an old file in one
// step. Returns the errors of WriteOutputFile (//base/files:whole_file) and of
// WriteMemoTraceFile.
absl::Status WriteTrace(const MemoTrace& trace, const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_TRACE_TRACE_TEXT_H_

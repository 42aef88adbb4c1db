// Records the loads, runs and evictions of planned values, and prints the
// problems.
//
//   TraceRecorder recorder(&trace);
//   recorder.SetLive("model", bytes);
//   recorder.AddEvent(MemoEvent::LOADED, "model", bytes);
//   recorder.RecordProblem(MemoEvent::TASK_FAILED, "BM_Fit", status);
//
// Refers to the trace, which must outlive it. Thread-compatible. Memory: the
// events, and the names of the values that are alive. Bytes of names and errors
// that are not UTF-8 are escaped in the trace.

#ifndef FOOTPRINT_MEMO_PRODUCT_TRACE_RECORDER_H_
#define FOOTPRINT_MEMO_PRODUCT_TRACE_RECORDER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "footprint/memo/schedule/memo_trace.pb.h"

namespace footprint::memo_internal {

class TraceRecorder {
 public:
  explicit TraceRecorder(MemoTrace* trace) : trace_(trace) {}
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  MemoTrace& trace() { return *trace_; }

  // Adds an event; the trace owns it.
  MemoEvent* AddEvent(MemoEvent::Kind kind, const std::string& name,
                      int64_t bytes);
  // Sets the detail of an event, and prints it on standard error.
  void Say(MemoEvent* event, const std::string& text);
  // Adds an event with the error, prints the error, and remembers that there
  // was a problem.
  void RecordProblem(MemoEvent::Kind kind, const std::string& name,
                     const absl::Status& status);
  void NoteProblem() { had_problem_ = true; }
  bool had_problem() const { return had_problem_; }

  // Records that the value is alive, and its bytes.
  void SetLive(const std::string& name, int64_t bytes) {
    live_bytes_[name] = bytes;
  }
  bool IsLive(const std::string& name) const {
    return live_bytes_.count(name) > 0;
  }
  // Returns the bytes of a value; 0 if it is not alive.
  int64_t FindBytes(const std::string& name) const;
  // Ends a value's life. Returns its bytes; 0 if it was not alive.
  int64_t EndLife(const std::string& name);
  // Returns the sum of the bytes of all values that are alive.
  int64_t LiveBytes() const;

 private:
  MemoTrace* const trace_;
  std::map<std::string, int64_t> live_bytes_;
  bool had_problem_ = false;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_TRACE_RECORDER_H_

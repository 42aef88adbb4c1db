#include "footprint/memo/product/trace_recorder.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"

namespace footprint::memo_internal {

void TraceRecorder::RecordProblem(MemoEvent::Kind kind, const std::string& name,
                                  const absl::Status& status) {
  had_problem_ = true;
  Say(AddEvent(kind, name, 0), absl::StrCat(name, ": ", status.message()));
}

MemoEvent* TraceRecorder::AddEvent(MemoEvent::Kind kind,
                                   const std::string& name, int64_t bytes) {
  MemoEvent* event = trace_->add_events();
  event->set_kind(kind);
  event->set_name(EscapeForProto(name));
  event->set_bytes(bytes);
  event->set_live_bytes(LiveBytes());
  return event;
}

void TraceRecorder::Say(MemoEvent* event, const std::string& text) {
  event->set_detail(EscapeForProto(text));
  std::cerr << "memo: " << text << "\n";
}

int64_t TraceRecorder::LiveBytes() const {
  int64_t sum = 0;
  for (const auto& [name, bytes] : live_bytes_) sum += bytes;
  return sum;
}

int64_t TraceRecorder::FindBytes(const std::string& name) const {
  const auto live = live_bytes_.find(name);
  return live == live_bytes_.end() ? 0 : live->second;
}

int64_t TraceRecorder::EndLife(const std::string& name) {
  const auto live = live_bytes_.find(name);
  if (live == live_bytes_.end()) return 0;
  const int64_t bytes = live->second;
  live_bytes_.erase(live);
  return bytes;
}

}  // namespace footprint::memo_internal

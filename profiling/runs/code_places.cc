#include "footprint/profiling/runs/code_places.h"

#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

CodeFrame MakeFrameBeforeRecord() {
  CodeFrame frame;
  frame.set_kind(CodeFrame::UNKNOWN);
  frame.set_function("[before the agent began]");
  return frame;
}

}  // namespace

bool ServesItsCaller(const CodeFrame& frame) {
  return frame.kind() == CodeFrame::ALLOCATOR ||
         frame.kind() == CodeFrame::C_LIBRARY ||
         frame.kind() == CodeFrame::INTERPRETER;
}

CodePlaces::CodePlaces(const MeasuredRun& run) : frames_({nullptr}) {
  AddFrames(run);
  AddCalls(run);
}

const CodeFrame& CodePlaces::FrameBeforeRecord() {
  static const auto* const frame = new CodeFrame(MakeFrameBeforeRecord());
  return *frame;
}

// Code of one line is one place, inlined or not.
void CodePlaces::AddFrames(const MeasuredRun& run) {
  using Key = std::tuple<absl::string_view, absl::string_view, int32_t,
                         absl::string_view>;
  absl::flat_hash_map<Key, uint32_t> indices;
  of_frames_.reserve(static_cast<size_t>(run.frames_size()));
  for (const CodeFrame& frame : run.frames()) {
    const auto [found, is_new] = indices.try_emplace(
        Key(frame.function(), frame.file(), frame.line(), frame.module()),
        static_cast<uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(&frame);
    of_frames_.push_back(found->second);
  }
}

// Goes from callers to what they call, which has higher indices.
void CodePlaces::AddCalls(const MeasuredRun& run) {
  const size_t count = static_cast<size_t>(run.calls_size()) + 1;
  of_calls_.assign(count, kNowhere);
  // The line of Python, or of native code below it, that counts for calls
  // without a line from here; kNowhere outside Python.
  std::vector<uint32_t> in_python(count, kNowhere);
  std::vector<bool> is_settled(count);
  for (size_t call = 1; call < count; ++call) {
    const Call& each = run.calls(static_cast<int>(call) - 1);
    const CodeFrame& frame = run.frames(static_cast<int>(each.frame()));
    const uint32_t parent = each.parent();
    const uint32_t own = of_frames_[each.frame()];
    in_python[call] = in_python[parent];
    if (ServesItsCaller(frame)) {
      is_settled[call] = is_settled[parent];
      of_calls_[call] = is_settled[parent] ? of_calls_[parent] : own;
      continue;
    }
    is_settled[call] = true;
    const bool is_python = frame.kind() == CodeFrame::PYTHON;
    const bool has_line = is_python || frame.line() > 0;
    of_calls_[call] =
        has_line || in_python[parent] == kNowhere ? own : in_python[parent];
    if (is_python || (has_line && in_python[parent] != kNowhere)) {
      in_python[call] = own;
    }
  }
}

}  // namespace footprint

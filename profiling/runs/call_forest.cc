#include "footprint/profiling/runs/call_forest.h"

namespace footprint {

uint32_t CallForest::Frame(const CodeFrame& frame) {
  const auto [found, is_new] = frames_.emplace(
      frame.SerializeAsString(), static_cast<uint32_t>(run_.frames_size()));
  if (is_new) *run_.add_frames() = frame;
  return found->second;
}

uint32_t CallForest::Call(uint32_t parent, uint32_t frame) {
  const auto [found, is_new] = calls_.emplace(
      std::pair(parent, frame), static_cast<uint32_t>(run_.calls_size()) + 1);
  if (is_new) {
    footprint::Call* const call = run_.add_calls();
    call->set_parent(parent);
    call->set_frame(frame);
  }
  return found->second;
}

}  // namespace footprint

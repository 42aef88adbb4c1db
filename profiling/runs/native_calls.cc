#include "footprint/profiling/runs/native_calls.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/runs/frame_kind.h"

namespace footprint {
namespace {

constexpr char kAgentFile[] = "/agent.so";
constexpr uint32_t kNotLookedUp = ~uint32_t{0};

CodeFrame UnknownFrame() {
  CodeFrame frame;
  frame.set_kind(CodeFrame::UNKNOWN);
  frame.set_function("[code of no file]");
  return frame;
}

CodeFrame FrameWithoutSymbol(const CallTree::Module& module, uint64_t address) {
  const absl::string_view path = module.path;
  CodeFrame frame;
  frame.set_function(EscapeForProto(absl::StrCat(
      path.substr(path.rfind('/') + 1), "+0x", absl::Hex(address))));
  frame.set_module(EscapeForProto(path));
  frame.set_build_id(module.build_id);
  frame.set_address(address);
  return frame;
}

CodeFrame FrameOf(const SourceFrame& source, const CallTree::Module& module) {
  CodeFrame frame;
  frame.set_kind(NativeFrameKind(source.function));
  frame.set_function(EscapeForProto(source.function));
  frame.set_file(EscapeForProto(source.file));
  frame.set_line(source.line);
  frame.set_module(EscapeForProto(module.path));
  frame.set_is_inlined(source.is_inlined);
  return frame;
}

}  // namespace

NativeCalls::NativeCalls(absl::Span<const CallTree::Module> modules,
                         absl::Span<const CallTree::Node> nodes,
                         Symbolizer* symbolizer, CallForest* forest)
    : modules_(modules),
      nodes_(nodes),
      symbolizer_(*symbolizer),
      forest_(*forest),
      calls_(nodes.size(), kNotLookedUp) {}

uint32_t NativeCalls::CallOf(int node) {
  std::vector<int> unknown;
  while (node != CallTree::kNone &&
         calls_[static_cast<size_t>(node)] == kNotLookedUp) {
    unknown.push_back(node);
    node = nodes_[static_cast<size_t>(node)].parent;
  }
  uint32_t call =
      node == CallTree::kNone ? 0 : calls_[static_cast<size_t>(node)];
  for (auto each = unknown.rbegin(); each != unknown.rend(); ++each) {
    const auto index = static_cast<size_t>(*each);
    for (uint32_t frame : FramesOf(nodes_[index])) {
      call = forest_.Call(call, frame);
    }
    calls_[index] = call;
  }
  return call;
}

const std::vector<uint32_t>& NativeCalls::FramesOf(const CallTree::Node& node) {
  const auto [found, is_new] = frames_.try_emplace({node.module, node.address});
  if (is_new) found->second = LookUp(node);
  return found->second;
}

std::vector<uint32_t> NativeCalls::LookUp(const CallTree::Node& node) {
  if (node.module == CallTree::kNone) {
    return {forest_.Frame(UnknownFrame())};
  }
  const CallTree::Module& module = modules_[static_cast<size_t>(node.module)];
  if (absl::EndsWith(module.path, kAgentFile)) return {};
  const absl::Span<const SourceFrame> sources =
      symbolizer_.Find({module.path, module.build_id}, node.address - 1);
  if (sources.empty()) {
    return {forest_.Frame(FrameWithoutSymbol(module, node.address))};
  }
  std::vector<uint32_t> frames;
  for (const SourceFrame& source : sources) {
    frames.push_back(forest_.Frame(FrameOf(source, module)));
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace footprint

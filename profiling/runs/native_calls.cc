#include "footprint/profiling/runs/native_calls.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/runs/frame_kind.h"
#include "footprint/profiling/symbols/python_lines.h"

namespace footprint {
namespace {

constexpr char kAgentFile[] = "/agent.so";
constexpr uint32_t kNotLookedUp = ~uint32_t{0};

CodeFrame UnknownFrame(absl::string_view name) {
  CodeFrame frame;
  frame.set_kind(CodeFrame::UNKNOWN);
  frame.set_function(std::string(name));
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

CodeFrame MakeFrame(const SourceFrame& source, const CallTree::Module& module) {
  CodeFrame frame;
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
                         Symbolizer* symbolizer, CallForest* forest,
                         const PythonCodes* python)
    : modules_(modules),
      nodes_(nodes),
      symbolizer_(*symbolizer),
      forest_(*forest),
      python_(python),
      calls_(nodes.size(), kNotLookedUp),
      is_below_python_(nodes.size()) {}

uint32_t NativeCalls::FindCall(int node) {
  std::vector<int> unknown;
  while (node != CallTree::kNone &&
         calls_[static_cast<size_t>(node)] == kNotLookedUp) {
    unknown.push_back(node);
    node = nodes_[static_cast<size_t>(node)].parent;
  }
  uint32_t call =
      node == CallTree::kNone ? 0 : calls_[static_cast<size_t>(node)];
  bool is_below_python =
      node != CallTree::kNone && is_below_python_[static_cast<size_t>(node)];
  for (auto each = unknown.rbegin(); each != unknown.rend(); ++each) {
    const auto index = static_cast<size_t>(*each);
    for (uint32_t frame : FindFrames(nodes_[index], is_below_python)) {
      call = forest_.Call(call, frame);
    }
    calls_[index] = call;
    is_below_python |= nodes_[index].python_code != CallTree::kNone;
    is_below_python_[index] = is_below_python;
  }
  return call;
}

const std::vector<uint32_t>& NativeCalls::FindFrames(const CallTree::Node& node,
                                                     bool is_below_python) {
  const bool is_python = node.python_code != CallTree::kNone;
  const auto [found, is_new] = frames_.try_emplace(
      {node.module, node.python_code,
       is_python ? node.python_instruction : static_cast<int64_t>(node.address),
       is_below_python});
  if (is_new) found->second = LookUp(node, is_below_python);
  return found->second;
}

CodeFrame NativeCalls::PythonFrame(const CallTree::Node& node) const {
  const auto index = static_cast<size_t>(node.python_code);
  // The function's name found no room in the record.
  if (python_ == nullptr || index >= python_->codes.size()) {
    return UnknownFrame("[a Python function]");
  }
  const PythonCodes::Code& code = python_->codes[index];
  CodeFrame frame;
  frame.set_kind(CodeFrame::PYTHON);
  frame.set_function(EscapeForProto(code.name));
  frame.set_file(EscapeForProto(code.file));
  frame.set_line(FindPythonLine(code.line_table, code.first_line,
                                node.python_instruction));
  frame.set_module(frame.file());
  return frame;
}

bool NativeCalls::IsInterpreter(const CallTree::Module& module) const {
  return python_ != nullptr && module.begin_address != 0 &&
         module.begin_address == python_->module_begin_address;
}

std::vector<uint32_t> NativeCalls::LookUp(const CallTree::Node& node,
                                          bool is_below_python) {
  if (node.python_code != CallTree::kNone) {
    return {forest_.Frame(PythonFrame(node))};
  }
  if (node.module == CallTree::kNone) {
    return {forest_.Frame(UnknownFrame("[code of no file]"))};
  }
  const CallTree::Module& module = modules_[static_cast<size_t>(node.module)];
  if (absl::EndsWith(module.path, kAgentFile)) return {};
  const absl::Span<const SourceFrame> sources =
      symbolizer_.Find({module.path, module.build_id}, node.address - 1);
  std::vector<CodeFrame> found;
  for (const SourceFrame& source : sources) {
    found.push_back(MakeFrame(source, module));
  }
  if (found.empty()) found.push_back(FrameWithoutSymbol(module, node.address));
  std::vector<uint32_t> frames;
  for (CodeFrame& frame : found) {
    const CodeFrame::Kind kind = NativeFrameKind(frame.function(), module.path);
    frame.set_kind(kind == CodeFrame::NATIVE && is_below_python &&
                           IsInterpreter(module)
                       ? CodeFrame::INTERPRETER
                       : kind);
    frames.push_back(forest_.Frame(frame));
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace footprint

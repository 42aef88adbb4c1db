// The stacks of one process image in a run's forest: names found, inlined
// functions as calls of their own, the agent's own frames left out.
//
//   NativeCalls calls(profile.modules, profile.nodes, &symbolizer, &forest);
//   site->set_call(calls.CallOf(profile_site.node));
//
// Thread-compatible. Owns none of what it is given, which must outlive it.
// Memory: 4 bytes a node and some 100 a different address. Time: the
// symbolizer's.

#ifndef FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_
#define FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {

class NativeCalls {
 public:
  // A process's tree of calls.
  NativeCalls(absl::Span<const CallTree::Module> modules,
              absl::Span<const CallTree::Node> nodes, Symbolizer* symbolizer,
              CallForest* forest);

  // Of a node of the tree; 0 for kNone. The innermost call.
  uint32_t CallOf(int node);

 private:
  // Outermost first; none for the agent's own code.
  const std::vector<uint32_t>& FramesOf(const CallTree::Node& node);
  std::vector<uint32_t> LookUp(const CallTree::Node& node);

  absl::Span<const CallTree::Module> modules_;
  absl::Span<const CallTree::Node> nodes_;
  Symbolizer& symbolizer_;
  CallForest& forest_;
  // By node.
  std::vector<uint32_t> calls_;
  std::map<std::pair<int, uint64_t>, std::vector<uint32_t>> frames_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_

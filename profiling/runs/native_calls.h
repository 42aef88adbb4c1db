// Adds the call stacks of one process image to a run's forest of calls.
// Functions have their names, inlined functions are calls of their own, the
// agent's frames are left out, and Python's calls have their lines.
//
//   NativeCalls calls(profile.modules, profile.nodes, &symbolizer, &forest,
//                     python);
//   site->set_call(calls.FindCall(profile_site.node));
//
// Thread-compatible. Owns none of its arguments, which must outlive it. Memory:
// 4 bytes a node and some 100 for each different address. Time: the
// symbolizer's.

#ifndef FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_
#define FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "footprint/profiling/records/call_tree.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {

class NativeCalls {
 public:
  // Takes a process's tree of calls. `python` may be null.
  NativeCalls(absl::Span<const CallTree::Module> modules,
              absl::Span<const CallTree::Node> nodes, Symbolizer* symbolizer,
              CallForest* forest, const PythonCodes* python = nullptr);

  // Returns the innermost call of a node of the tree, as sites name it; 0 for
  // kNone.
  uint32_t FindCall(int node);

 private:
  // Returns the frames of a node, outermost first; none for the agent's own
  // code. The result is valid until the next call.
  const std::vector<uint32_t>& FindFrames(const CallTree::Node& node,
                                          bool is_below_python);
  std::vector<uint32_t> LookUp(const CallTree::Node& node,
                               bool is_below_python);
  CodeFrame PythonFrame(const CallTree::Node& node) const;
  bool IsInterpreter(const CallTree::Module& module) const;

  absl::Span<const CallTree::Module> modules_;
  absl::Span<const CallTree::Node> nodes_;
  Symbolizer& symbolizer_;
  CallForest& forest_;
  const PythonCodes* const python_;
  // The calls of each node.
  std::vector<uint32_t> calls_;
  std::vector<bool> is_below_python_;
  // The frames by module and address, or by code object and instruction.
  absl::flat_hash_map<std::tuple<int, int, int64_t, bool>,
                      std::vector<uint32_t>>
      frames_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_

// The stacks of one process image in a run's forest: names found, inlined
// functions as calls of their own, the agent's own frames left out.
//
//   NativeCalls calls(profile, &symbolizer, &forest);
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

#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {

class NativeCalls {
 public:
  NativeCalls(const SiteProfile& profile, Symbolizer* symbolizer,
              CallForest* forest);

  // Of a node of the profile; 0 for kNone. The innermost call.
  uint32_t CallOf(int node);

 private:
  // Outermost first; none for the agent's own code.
  const std::vector<uint32_t>& FramesOf(const SiteProfile::Node& node);
  std::vector<uint32_t> LookUp(const SiteProfile::Node& node);

  const SiteProfile& profile_;
  Symbolizer& symbolizer_;
  CallForest& forest_;
  // By node.
  std::vector<uint32_t> calls_;
  std::map<std::pair<int, uint64_t>, std::vector<uint32_t>> frames_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_NATIVE_CALLS_H_

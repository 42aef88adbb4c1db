// Calls of runs as one tree of functions, with figures, cut to a bounded size.
//
//   MergedCalls merged(/*measure_count=*/1);
//   MergedCalls::Stacks stacks(run, image, nearest, /*root=*/0,
//                              /*is_python_alone=*/false, &merged);
//   merged.Add(stacks.FindNode(site.call()), 0, site.at_peak().bytes(), 0);
//   std::vector<FlameGraph::Node> nodes = merged.LargestNodes(120'000);
//
// The outermost node, 0, is no call; runs must outlive the tree. Calls that are
// cut stand as "others" where they were called. Negative values count as 0. A
// call that the caller does not keep is never looked up, so a tree of millions
// is cheap.
//
// Thread-compatible. Memory: some 50 bytes a call, 8 a measure and call and,
// where figures are estimates, 8 more. Time: linear; LargestNodes sorts the
// calls that it may keep.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_MERGED_CALLS_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_MERGED_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "footprint/base/page/flame_graph.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/runs/code_owner.h"

namespace footprint {

class MergedCalls {
 public:
  explicit MergedCalls(size_t measure_count);

  // The call of that name in `parent`, there from now on. `detail` is kept from
  // the first time. Both must outlive the tree.
  uint32_t Child(uint32_t parent, absl::string_view name,
                 absl::string_view detail, CodeOwner owner);

  // The node of calls in `parent` that are too small for one of their own; it
  // is never kept as one.
  uint32_t Others(uint32_t parent);

  void Add(uint32_t node, size_t measure, int64_t value, double variance);

  // Node 0 left out; `kind` is an owner. They add up to all that was added.
  std::vector<FlameGraph::Node> LargestNodes(size_t most_bytes) const;

  // The stacks of one process in the tree, below `root`.
  class Stacks {
   public:
    // `nearest`: of each call, as sites name it, the nearest one around it that
    // is kept, or itself; 0: none. Must outlive the stacks. Where
    // `is_python_alone`, a native call has no node: its figures are those of
    // the Python function that led to it.
    Stacks(const MeasuredRun& run, const MeasuredImage& image,
           const std::vector<uint32_t>& nearest, uint32_t root,
           bool is_python_alone, MergedCalls* merged);

    // Returns the node of a call as sites name it; of a call that is not kept,
    // the others of the nearest.
    uint32_t FindNode(uint32_t call);

   private:
    uint32_t NodeOfKept(uint32_t call);
    uint32_t FindChild(uint32_t parent, uint32_t call);

    const MeasuredRun& run_;
    const MeasuredImage& image_;
    const std::vector<uint32_t>& nearest_;
    const uint32_t root_;
    const bool is_python_alone_;
    MergedCalls& merged_;
    std::vector<uint32_t> nodes_;  // by call; 0: not met yet
    std::vector<uint32_t> names_;  // by frame
    std::vector<uint32_t> path_;
  };

 private:
  using NameKey = std::pair<absl::string_view, absl::string_view>;

  struct Node {
    uint32_t parent;
    uint32_t name;
    CodeOwner owner;
  };

  uint32_t NumberName(absl::string_view name, absl::string_view detail);
  template <typename FindOwner>
  uint32_t ChildOfName(uint32_t parent, uint32_t name, FindOwner find_owner);

  std::vector<double> Scores() const;
  // Indices of nodes that are kept, ascending.
  std::vector<uint32_t> Choose(size_t most_bytes) const;
  size_t CountCost(uint32_t node, std::vector<bool>* has_name) const;
  FlameGraph::Node GraphNode(uint32_t node, int parent) const;
  void AddOwn(uint32_t node, FlameGraph::Node* sum) const;
  void SetSigmas(std::vector<FlameGraph::Node>* nodes) const;

  std::vector<Node> nodes_;
  absl::flat_hash_map<uint64_t, uint32_t> children_;
  std::vector<NameKey> names_;
  absl::flat_hash_map<NameKey, uint32_t> name_indices_;
  std::vector<std::vector<int64_t>> values_;
  std::vector<std::vector<double>> variances_;  // empty: all exact
  std::vector<int64_t> wholes_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_MERGED_CALLS_H_

// Merges the calls of runs into one tree of functions, with figures, and cuts
// it to a bounded size.
//
//   MergedCalls merged(/*measure_count=*/1);
//   MergedCalls::Stacks stacks(run, image, nearest, /*root=*/0,
//                              /*is_python_alone=*/false, &merged);
//   merged.Add(stacks.FindNode(site.call()), 0, site.at_peak().bytes(), 0);
//   std::vector<FlameGraph::Node> nodes = merged.LargestNodes(120'000);
//
// Node 0 is the outermost and is not a call. The runs must outlive the tree.
// Calls that are cut are added to "others" at their caller. Negative values
// count as 0. A call that the caller does not keep is never looked up, so a
// tree of millions of calls is cheap.
//
// Thread-compatible. Memory: some 50 bytes a call, 8 for each measure of a call
// and, if figures are estimates, 8 more. Time: linear; LargestNodes sorts the
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

  // Returns the call with that name and detail in `parent`, and adds it with
  // that owner if needed. Both texts must outlive the tree.
  uint32_t Child(uint32_t parent, absl::string_view name,
                 absl::string_view detail, CodeOwner owner);

  // Returns the node for calls in `parent` that are too small for a node of
  // their own. LargestNodes never keeps it as a call.
  uint32_t Others(uint32_t parent);

  // Adds to the figure of a node in a measure, and to its variance.
  void Add(uint32_t node, size_t measure, int64_t value, double variance);

  // Returns the largest nodes without node 0; their `kind` is an owner. Their
  // values add up to all that was added. It keeps calls that take about
  // `most_bytes` on a page: at most 6,000, each with at least a ten-thousandth
  // of a measure.
  std::vector<FlameGraph::Node> LargestNodes(size_t most_bytes) const;

  // Adds the stacks of one process to the tree, below `root`.
  class Stacks {
   public:
    // `nearest` gives for each call, numbered as in sites, the call itself if
    // it is kept, else the nearest kept one around it, or 0. It must outlive
    // this object. If `is_python_alone`, a native call has no node, and its
    // figures count for the Python function that led to it.
    Stacks(const MeasuredRun& run, const MeasuredImage& image,
           const std::vector<uint32_t>& nearest, uint32_t root,
           bool is_python_alone, MergedCalls* merged);

    // Returns the node of a call, numbered as in sites. For a call that is not
    // kept, it returns the "others" of the nearest kept one.
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
    std::vector<uint32_t> nodes_;  // Indexed by call; 0 before its first use.
    std::vector<uint32_t> names_;  // Indexed by frame.
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
  // Returns the indices of the nodes to keep, in ascending order.
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
  std::vector<std::vector<double>> variances_;  // Empty if all are exact.
  std::vector<int64_t> wholes_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_MERGED_CALLS_H_

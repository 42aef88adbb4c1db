// A flame graph for a page (page.h): shows where the bytes of a tree of calls
// are.
//
//   FlameGraph graph;
//   graph.title = "Calls";
//   graph.measures = {{"at the peak"}, {"allocated in all"}};
//   graph.nodes = {{-1, "train", "", 0, {0, 0}},
//                  {0, "Fit", "libfit", 0, {512, 2048}}};
//   std::string html = DrawFlameGraph(graph);
//
// A node's values are its own; the picture adds those of its calls. The reader
// chooses the measure, searches for a name, and enlarges a call by mouse,
// finger or keyboard. If two runs are compared, the measures come in pairs and
// colours show growth.
//
// kFlameGraphScript, which the page contains once, draws the picture; without
// scripts the page says that it needs one. Text is escaped; equal data give
// equal bytes. Pure: the text has copies of the graph's texts. Thread-safe.
// Memory: the text, twice. Time: linear in the text, and n log n in the nodes.

#ifndef FOOTPRINT_BASE_PAGE_FLAME_GRAPH_H_
#define FOOTPRINT_BASE_PAGE_FLAME_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace footprint {

struct FlameGraph {
  struct Measure {
    enum class Unit { kBytes, kNanoseconds };
    std::string name;
    Unit unit = Unit::kBytes;
    // The moment at which the measure was taken; kAll if it belongs to no
    // single moment. Measures of moments must come last, in order of time, and
    // the page has one slider for all of them. They have no sigmas. If the page
    // has a timeline whose times begin with the same 0, a reader who chooses a
    // point there also chooses the last moment that is not after that point.
    int64_t moment_ns = kAll;
    static constexpr int64_t kAll = -1;
  };

  struct Node {
    // Index of the caller, which must come before it; -1 for an outermost call.
    int parent = -1;
    std::string name;
    std::string detail;  // shown with the name when one node is described
    size_t kind = 0;     // an index of `kinds`, which chooses the colour
    // One value per measure, without those of the node's calls. May be shorter:
    // the other values are 0.
    std::vector<int64_t> own_values;
    // The deviations of the sums that include the node's calls, since sigmas do
    // not add up. May be shorter: the other sums are exact.
    std::vector<double> sigmas = {};
  };

  std::string title;
  std::string description;
  std::vector<Measure> measures;
  // The names of at most 8 colours; an empty name for a colour that is not
  // used. Empty for a comparison.
  std::vector<std::string> kinds;
  std::vector<Node> nodes;
  // True if measures 2 i and 2 i + 1 are the same one before and after.
  bool is_comparison = false;
};

// Returns the graph as HTML.
std::string DrawFlameGraph(const FlameGraph& graph);

namespace page_internal {

// The beginning of DrawFlameGraph's text. No other text of a page contains it.
inline constexpr char kFlameGraphBegin[] = "<figure class=\"flame\">";
extern const char kFlameGraphStyle[];

}  // namespace page_internal

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_FLAME_GRAPH_H_

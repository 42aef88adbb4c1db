// A flame graph for a page (page.h): where the bytes of a tree of calls lie.
//
//   FlameGraph graph;
//   graph.title = "Calls";
//   graph.measures = {{"at the peak"}, {"allocated in all"}};
//   graph.nodes = {{-1, "train", "", 0, {0, 0}},
//                  {0, "Fit", "libfit", 0, {512, 2048}}};
//   std::string html = DrawFlameGraph(graph);
//
// A node's values are its own; the picture adds those of its calls. The reader
// chooses the measure, looks up a name, and enlarges a call by mouse, finger or
// keyboard. The measures of two compared runs come in pairs, and colours tell
// growth.
//
// The picture is drawn by kFlameGraphScript, which the page holds once; without
// a script the page says so. Text is escaped; equal data give equal bytes.
// Pure: the text has copies of what the graph holds. Thread-safe. Memory: the
// text, twice. Time: linear.

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
    // The moment at which the measure was taken; kAll: it is of no single
    // moment. Measures of moments stand last, in order of time, and the page
    // has one slider for all of them. They have no sigmas. Choosing a point of
    // a timeline on the same page, whose times begin with the same 0, chooses
    // the moment before it.
    int64_t moment_ns = kAll;
    static constexpr int64_t kAll = -1;
  };

  struct Node {
    // Index of the caller, which stands before it; -1: an outermost call.
    int parent = -1;
    std::string name;
    std::string detail;  // beside the name where one node is told of
    size_t kind = 0;
    // One a measure, without those of its calls.
    std::vector<int64_t> own_values;
    // The deviations of the sums with their calls, since sigmas do not add up;
    // may be fewer: the others are exact.
    std::vector<double> sigmas = {};
  };

  std::string title;
  std::string description;
  std::vector<Measure> measures;
  // Names of colours, at most 8, an empty one for a colour that is not used; of
  // a comparison, none.
  std::vector<std::string> kinds;
  std::vector<Node> nodes;
  // Measures 2 i and 2 i + 1 are the same before and after.
  bool is_comparison = false;
};

std::string DrawFlameGraph(const FlameGraph& graph);

namespace page_internal {

// How DrawFlameGraph begins: no other text of a page holds it.
inline constexpr char kFlameGraphBegin[] = "<figure class=\"flame\">";
extern const char kFlameGraphStyle[];

}  // namespace page_internal

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_FLAME_GRAPH_H_

#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/run_page/run_flame_graph.h"

namespace footprint {

bool AddCalls(const MeasuredRun& run, const PageLimits& limits,
              PageContent* page) {
  FlameGraph graph = RunFlameGraph(run, limits.flame_graph_bytes);
  if (graph.nodes.empty()) return false;
  graph.description =
      run.images_size() > 1
          ? "Each process at its own peak, callers above what they call. "
            "Processes of one command are put together."
          : "Callers above what they call; the width is what the call and "
            "those below it have.";
  if (run.sampling_interval_bytes() > 0) {
    graph.description +=
        " Estimated from samples: the sum is not the exact "
        "peak, but near it.";
  }
  page->AddHeading("Where from");
  page->AddFlameGraph(graph);
  return true;
}

}  // namespace footprint

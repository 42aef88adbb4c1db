#include <string>

#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/run_page/run_flame_graph.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

std::string DescribeGraph(const MeasuredRun& run) {
  std::string text =
      run.images_size() > 1
          ? "Each process at its own peak, callers above what they call. "
            "Processes of one command are put together."
          : "Callers above what they call; the width is what the call and "
            "those below it have.";
  const MeasuredImage* const largest = LargestImage(run);
  if (largest != nullptr && largest->moments_size() > 0) {
    text +=
        " To see who held the bytes at another time, choose a point of the "
        "timeline, or a moment: the last one that was recorded before that "
        "time is shown.";
  }
  if (run.sampling_interval_bytes() > 0) {
    text +=
        " Estimated from samples: the sum is not the exact "
        "peak, but near it.";
  }
  return text;
}

void AddGraph(const MeasuredRun& run, size_t most_bytes, FlameFrames frames,
              PageContent* page) {
  FlameGraph graph = RunFlameGraph(run, most_bytes, frames);
  graph.description = DescribeGraph(run);
  if (frames == FlameFrames::kPython) {
    graph.description +=
        " What native code holds stands at the Python function that called "
        "it.";
  }
  page->AddFlameGraph(graph);
}

bool HasCalls(const MeasuredRun& run) {
  return !RunFlameGraph(run, /*most_bytes=*/0).nodes.empty();
}

}  // namespace

bool AddCalls(const MeasuredRun& run, const PageLimits& limits,
              PageContent* page) {
  if (!HasCalls(run)) return false;
  page->AddHeading("Where from");
  if (!HasPythonFrames(run)) {
    AddGraph(run, limits.flame_graph_bytes, FlameFrames::kAll, page);
    return true;
  }
  PageContent python;
  PageContent all;
  AddGraph(run, limits.flame_graph_bytes / 2, FlameFrames::kPython, &python);
  AddGraph(run, limits.flame_graph_bytes / 2, FlameFrames::kAll, &all);
  page->AddViews("Functions", {{"Python", python}, {"Python and native", all}});
  return true;
}

}  // namespace footprint

#include "footprint/profiling/run_page/run_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

std::string ProgramName(const MeasuredRun& run) {
  constexpr size_t kMostBytes = 100;
  return Shortened(absl::StrJoin(run.program(), " "), kMostBytes);
}

std::string EmptyPage(const MeasuredRun& run) {
  Page page(absl::StrCat("Memory of ", ProgramName(run)), "");
  page.AddWarnings({"Nothing was measured: the agent was not loaded."});
  return page.Html();
}

std::string PageWithin(const MeasuredRun& run, const MeasuredImage& image,
                       const PlaceRows& places, const PageLimits& limits) {
  Page page(absl::StrCat("Memory of ", ProgramName(run)),
            absl::StrCat("Measured by memprof, ",
                         run.images_size() == 1
                             ? "one process"
                             : absl::StrCat(run.images_size(), " processes"),
                         ", ", Seconds(run.wall_time_ns()), "."));
  page.AddWarnings(Warnings(run, image));
  AddHeadline(run, image, places, &page);
  AddShares(run, image, &page);
  AddTimelines(run, limits, &page);
  AddCalls(run, limits, &page);
  AddStages(image, limits, &page);
  AddPlaces(run, image, limits, places, &page);
  AddSuspectedLeaks(run, image, limits, &page);
  AddThreads(image, limits, &page);
  AddProcesses(run, limits, &page);
  AddResidentParts(image, &page);
  AddGraphics(run, &page);
  AddMeasuring(run, image, &page);
  return page.Html();
}

}  // namespace

std::string RunPage(const MeasuredRun& run) {
  const MeasuredImage* const image = LargestImage(run);
  if (image == nullptr) return EmptyPage(run);
  const PlaceRows places = FiguresByPlace(run, *image);
  PageLimits limits;
  std::string html = PageWithin(run, *image, places, limits);
  // Only names of thousands of characters that HTML must escape need it.
  while (html.size() > kMostPageBytes && limits.table_rows > 2) {
    limits.flame_graph_bytes /= 2;
    limits.table_rows /= 2;
    limits.timeline_points /= 2;
    html = PageWithin(run, *image, places, limits);
  }
  return html;
}

}  // namespace footprint

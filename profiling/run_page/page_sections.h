// The sections of a run's page, each in a file of its own. A section of which
// the run knows nothing is not there; NotMeasured says which those are.
//
//   AddHeadline(run, image, FiguresByPlace(run, image), &page);
//   AddTimelines(run, limits, &page);
//
// `image` is the process that the page is about, the one with the highest peak.
// Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "footprint/base/page/page.h"
#include "footprint/profiling/run_page/place_figures.h"
#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

// How much of a run finds room on the page.
struct PageLimits {
  size_t flame_graph_bytes = 100'000;
  size_t table_rows = 40;
  size_t timeline_points = 250;
  size_t timelines = 4;
};

// Rows as FiguresByPlace gives them, whatever their order.
using PlaceRows = std::vector<PlaceFigures>;

// Gaps in the figures, and failures of the program, for the top of the page.
std::vector<std::string> Warnings(const MeasuredRun& run,
                                  const MeasuredImage& image);

// Peak, when, where; what lies above it.
void AddHeadline(const MeasuredRun& run, const MeasuredImage& image,
                 const PlaceRows& places, PageContent* page);

// Whose data the peak is.
void AddShares(const MeasuredRun& run, const MeasuredImage& image,
               PageContent* page);

// Live bytes over time, of the processes with the highest peaks.
void AddTimelines(const MeasuredRun& run, const PageLimits& limits,
                  PageContent* page);

void AddCalls(const MeasuredRun& run, const PageLimits& limits,
              PageContent* page);

// Lines of code: at the peak, temporary, left at exit, copies, processor time.
void AddPlaces(const MeasuredRun& run, const MeasuredImage& image,
               const PageLimits& limits, const PlaceRows& places,
               PageContent* page);

void AddStages(const MeasuredImage& image, const PageLimits& limits,
               PageContent* page);

void AddThreads(const MeasuredImage& image, const PageLimits& limits,
                PageContent* page);

// Every process, where there is more than one.
void AddProcesses(const MeasuredRun& run, const PageLimits& limits,
                  PageContent* page);

void AddSuspectedLeaks(const MeasuredRun& run, const MeasuredImage& image,
                       const PageLimits& limits, PageContent* page);

void AddResidentParts(const MeasuredImage& image, PageContent* page);

void AddGraphics(const MeasuredRun& run, PageContent* page);

// The machine, how the run was measured and what was not.
void AddMeasuring(const MeasuredRun& run, const MeasuredImage& image,
                  PageContent* page);

// Names for cells of tables.

// The function and, in brackets, file and line.
std::string PlaceName(const CodeFrame* frame);

// "12.0 MiB", of an estimate with its sigma: "12.0 MiB +- 1.10 MiB".
std::string AmountText(const SummedAmount& amount);

}  // namespace footprint

// Tested by run_page_test.

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_

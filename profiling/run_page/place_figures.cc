#include "footprint/profiling/run_page/place_figures.h"

#include <cstddef>

#include "footprint/profiling/runs/code_places.h"

namespace footprint {

std::vector<PlaceFigures> FiguresByPlace(const MeasuredRun& run,
                                         const MeasuredImage& image) {
  const CodePlaces places(run);
  std::vector<PlaceFigures> figures(places.size());
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i].frame = places.FrameAt(static_cast<uint32_t>(i));
  }
  for (const SiteAmounts& site : image.sites()) {
    PlaceFigures& sum = figures[places.OfCall(site.call())];
    sum.at_peak.Add(site.at_peak());
    sum.at_end.Add(site.at_end());
    sum.allocated.Add(site.allocated());
    sum.temporary_count += site.temporary_count();
  }
  for (const MeasuredImage& any : run.images()) {
    for (const CopyAmounts& copy : any.copies()) {
      figures[places.OfCall(copy.call())].copied.Add(copy.copied());
    }
    for (const ProcessorTime& time : any.processor_time()) {
      PlaceFigures& sum = figures[places.OfCall(time.call())];
      sum.native_ns = SaturatedSum(sum.native_ns, time.native_ns());
      sum.interpreter_ns =
          SaturatedSum(sum.interpreter_ns, time.interpreter_ns());
      sum.system_ns = SaturatedSum(sum.system_ns, time.system_ns());
    }
  }
  return figures;
}

}  // namespace footprint

#include "footprint/profiling/records/running_images.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

namespace footprint {

bool BecameAnother(const MeasuredImage& image,
                   const std::vector<MeasuredProcess>& processes) {
  return std::any_of(processes.begin(), processes.end(),
                     [&image](const MeasuredProcess& each) {
                       return each.figures.process_id() == image.process_id() &&
                              each.figures.image() > image.image();
                     });
}

void MarkRunning(std::vector<MeasuredProcess>* processes) {
  for (MeasuredProcess& each : *processes) {
    MeasuredImage& image = each.figures;
    if (image.has_totals() || BecameAnother(image, *processes)) continue;
    if (kill(image.process_id(), 0) == 0 || errno == EPERM) {
      image.set_end(MeasuredImage::RUNS_ON);
    }
  }
}

}  // namespace footprint

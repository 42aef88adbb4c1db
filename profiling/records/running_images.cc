#include "footprint/profiling/records/running_images.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// Returns whether the process has ended and its parent has not waited for it
// yet: the kernel still knows its ID then.
bool IsZombie(int process_id) {
  const absl::StatusOr<std::string> text =
      ReadKernelFile(absl::StrCat("/proc/", process_id, "/stat"));
  if (!text.ok()) return false;
  // The state follows the name, which may have parentheses and blanks.
  const size_t state = text->rfind(") ");
  if (state == std::string::npos || state + 2 >= text->size()) return false;
  return (*text)[state + 2] == 'Z' || (*text)[state + 2] == 'X';
}

// `process_id` is that of a record, which may be damaged: the kernel takes 0
// and numbers below it for groups of processes.
bool Runs(int process_id) {
  return process_id > 0 && (kill(process_id, 0) == 0 || errno == EPERM) &&
         !IsZombie(process_id);
}

}  // namespace

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
    if (Runs(image.process_id())) image.set_end(MeasuredImage::RUNS_ON);
  }
}

}  // namespace footprint

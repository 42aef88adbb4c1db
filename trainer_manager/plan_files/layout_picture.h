// Draws a plan as a picture: steps to the right, bytes upwards, a box for each
// tensor.
//
//   std::string html = DrawPlan(requests, plan, "LeNet, batch 32");
//
// The page is self-contained: no script, no network. Pointing at a box shows
// the tensor. The tensors of the certificate have full colour, and lines mark
// the lower bound and the step that proves it. Pure and thread-safe. Memory and
// time: linear, about 300 bytes of page a tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_LAYOUT_PICTURE_H_
#define FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_LAYOUT_PICTURE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/page/page.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// Labels of a picture in addition to sizes and offsets.
struct PictureLabels {
  // One for each request, such as "weight" or "activation", or none at all.
  // Tensors are coloured by kind, in the order in which kinds appear; at most 8
  // colours differ.
  std::vector<std::string> kinds;
  std::vector<LayoutChart::Span> spans;  // such as "forward"
  std::string bound_step;                // the name of the bound's step
};

// Returns the whole HTML page. The plan must be valid for the requests.
std::string DrawPlan(absl::Span<const TensorRequest> requests,
                     const MemoryPlan& plan, absl::string_view title,
                     const PictureLabels& labels = {});

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLAN_FILES_LAYOUT_PICTURE_H_

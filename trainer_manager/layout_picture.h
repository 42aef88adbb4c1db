// A plan as a picture: steps to the right, bytes upwards, a box a tensor.
//
//   std::string html = DrawPlan(requests, plan, "LeNet, batch 32");
//
// The page needs nothing but itself: no script, no network. Pointing at a box
// shows the tensor; the tensors of the certificate are outlined, and lines mark
// the lower bound and the step that proves it. Pure. Memory and time: linear.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYOUT_PICTURE_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYOUT_PICTURE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/plan.h"

namespace footprint {

// The plan must be valid for the requests.
std::string DrawPlan(absl::Span<const TensorRequest> requests,
                     const MemoryPlan& plan, absl::string_view title);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYOUT_PICTURE_H_

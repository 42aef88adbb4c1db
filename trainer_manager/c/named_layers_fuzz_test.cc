// Any text as a layer's type and properties, or as settings: a layer that is
// made either refuses its input or describes steps that can run.

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/trainer_manager/c/named_layers.h"
#include "footprint/trainer_manager/c/trainer_settings.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {
namespace {

void DescribeLayer(const Layer& layer, const TensorType& input) {
  const LayerInputs inputs = {{input}, NetworkMode::kTraining, ReferenceMath()};
  const absl::StatusOr<LayerSignature> signature = layer.Describe(inputs);
  if (!signature.ok()) return RequireRefusal(signature.status());
  if (!CheckSizes(*signature).ok()) return;
  Require(CheckOperands(*signature, inputs).ok(), "described steps can run");
}

// The first line is a layer's type and the rest are its properties; without a
// second line they are settings.
void MakeAnyLayer(absl::string_view text) {
  const size_t line = text.find('\n');
  if (line == absl::string_view::npos) {
    const absl::StatusOr<TrainerSettings> settings = ParseTrainerSettings(text);
    if (!settings.ok()) return RequireRefusal(settings.status());
    Require(settings->mode == NetworkMode::kInference ||
                settings->manager.optimizer != nullptr,
            "a training has an optimizer");
    return;
  }
  const absl::StatusOr<LayerPointer> layer =
      MakeNamedLayer(text.substr(0, line), text.substr(line + 1));
  if (!layer.ok()) return RequireRefusal(layer.status());
  Require(*layer != nullptr, "a layer is made");
  DescribeLayer(**layer, {{2, 4, 8, 8}});
  DescribeLayer(**layer, {{2, 5, 12}});
  DescribeLayer(**layer, {{2, 5}, DType::kI32});
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(MakeAnyLayer)

}  // namespace footprint

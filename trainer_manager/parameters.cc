#include "footprint/trainer_manager/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/random_sequence.h"

namespace footprint {
namespace {

// The values that go into one output, and the outputs that one value reaches.
struct Fan {
  double in = 1;
  double out = 1;
};

Fan FanOf(const Shape& shape) {
  if (shape.rank() == 4) {
    const double window =
        static_cast<double>(shape.extent(2) * shape.extent(3));
    return {static_cast<double>(shape.extent(1)) * window,
            static_cast<double>(shape.extent(0)) * window};
  }
  if (shape.rank() == 2) {
    return {static_cast<double>(shape.extent(0)),
            static_cast<double>(shape.extent(1))};
  }
  return {};
}

void Initialize(const WeightSpec& weight, RandomSequence* random,
                absl::Span<float> values) {
  const Fan fan = FanOf(weight.spec.shape);
  const double bound = std::sqrt(6.0 / (fan.in + fan.out));
  for (float& value : values) {
    switch (weight.initializer) {
      case Initializer::kZeros:
        value = 0;
        break;
      case Initializer::kOnes:
        value = 1;
        break;
      case Initializer::kUniformByFan:
        value = static_cast<float>(bound * (2 * random->Uniform() - 1));
        break;
      case Initializer::kNormalByFan:
        value = static_cast<float>(std::sqrt(2.0 / fan.in) * random->Normal());
        break;
      case Initializer::kNormal:
        value = static_cast<float>(0.02 * random->Normal());
        break;
    }
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<Parameters>> Parameters::Create(
    const ExecutionPlan& plan, uint64_t seed) {
  std::shared_ptr<Parameters> parameters(new Parameters);
  absl::StatusOr<MemoryBlock> block = MemoryBlock::Allocate(plan.model_bytes);
  if (!block.ok()) return block.status();
  parameters->block_ = *std::move(block);
  for (const PlannedTensor& tensor : plan.tensors) {
    const Storage& storage = plan.storages[tensor.storage];
    if (storage.storage_class != StorageClass::kModel) continue;
    float* data = reinterpret_cast<float*>(parameters->block_.data() +
                                           storage.offset_bytes);
    parameters->parameters_.push_back(
        {tensor.name, tensor.spec.shape,
         absl::MakeSpan(data,
                        static_cast<size_t>(tensor.spec.shape.elements()))});
  }
  RandomSequence random(seed);
  for (size_t l = 0; l < plan.network.layers.size(); ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = plan.network.layers[l];
    if (layer.weights_of != l) continue;
    for (const auto* list :
         {&layer.signature.weights, &layer.signature.statistics}) {
      for (const WeightSpec& weight : *list) {
        const auto values =
            parameters->Find(absl::StrCat(layer.name, ".", weight.name));
        if (!values.ok()) return values.status();
        Initialize(weight, &random, *values);
      }
    }
  }
  parameters->parameters_.shrink_to_fit();
  return parameters;
}

absl::StatusOr<absl::Span<float>> Parameters::Find(
    absl::string_view name) const {
  for (const Parameter& parameter : parameters_) {
    if (parameter.name == name) return parameter.values;
  }
  return absl::NotFoundError(
      absl::StrCat("the model has no parameter \"", name, "\""));
}

}  // namespace footprint

#include "footprint/trainer_manager/parameters/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/math/finite_values.h"

namespace footprint {
namespace {

// The number of values that one output depends on, and the number of outputs
// that one value affects.
struct Fan {
  double in = 1;
  double out = 1;
};

Fan ComputeFan(const Shape& shape) {
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

bool IsParameter(const ExecutionPlan& plan, size_t tensor) {
  return plan.StorageOfTensor(tensor).storage_class == StorageClass::kModel;
}

void InitializeAsAsked(const WeightSpec& weight, RandomSequence* random,
                       absl::Span<float> values) {
  const Fan fan = ComputeFan(weight.spec.shape);
  const double bound = std::sqrt(6.0 / (fan.in + fan.out));
  const double by_columns =
      1 / std::sqrt(static_cast<double>(weight.spec.shape.columns()));
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
      case Initializer::kUniformByColumns:
        value = static_cast<float>(by_columns * (2 * random->Uniform() - 1));
        break;
    }
  }
}

// Skips what the weight would draw, so that weights that stay in their file do
// not change the initial values of others.
void SkipDraws(const WeightSpec& weight, RandomSequence* random) {
  const auto elements = static_cast<uint64_t>(weight.spec.shape.elements());
  switch (weight.initializer) {
    case Initializer::kZeros:
    case Initializer::kOnes:
      return;
    case Initializer::kUniformByFan:
    case Initializer::kUniformByColumns:
      random->Skip(elements);
      return;
    case Initializer::kNormalByFan:
    case Initializer::kNormal:
      random->Skip(2 * elements);
      return;
  }
}

}  // namespace

int64_t FirstRefused(absl::string_view name, absl::Span<const float> values) {
  const int64_t place =
      FirstNotFinite(values.data(), static_cast<int64_t>(values.size()));
  if (place >= 0 || !absl::EndsWith(name, ".variance")) return place;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) return static_cast<int64_t>(i);
  }
  return -1;
}

// The block that holds the records runs no destructors.
Parameters::~Parameters() {
  std::destroy(parameters_.begin(), parameters_.end());
}

// Names and records are stored after the values.
absl::Status Parameters::AllocateFor(const ExecutionPlan& plan) {
  size_t count = 0;
  size_t name_bytes = 0;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    if (!IsParameter(plan, t)) continue;
    ++count;
    name_bytes += plan.tensors[t].name.size();
  }
  absl::StatusOr<MemoryBlock> block = MemoryBlock::Allocate(
      plan.model_bytes,
      static_cast<int64_t>(count * sizeof(Parameter) + name_bytes));
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  auto* const records = reinterpret_cast<Parameter*>(block_.records());
  char* name = reinterpret_cast<char*>(records + count);
  size_t next = 0;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    if (!IsParameter(plan, t)) continue;
    const PlannedTensor& tensor = plan.tensors[t];
    float* const values =
        reinterpret_cast<float*>(block_.data() + plan.OffsetOfTensor(t));
    std::memcpy(name, tensor.name.data(), tensor.name.size());
    new (records + next++) Parameter{
        absl::string_view(name, tensor.name.size()), tensor.spec.shape,
        absl::MakeSpan(values,
                       static_cast<size_t>(tensor.spec.shape.elements()))};
    name += tensor.name.size();
  }
  parameters_ = absl::MakeConstSpan(records, count);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Parameters>> Parameters::Create(
    const ExecutionPlan& plan, uint64_t seed, const Initialize& initialize) {
  absl::Status status = CheckUnedited(plan);
  if (!status.ok()) return status;
  std::shared_ptr<Parameters> parameters(new Parameters);
  status = parameters->AllocateFor(plan);
  if (!status.ok()) return status;
  RandomSequence random(seed);
  for (size_t l = 0; l < plan.network->layers.size(); ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = plan.network->layers[l];
    if (layer.weights_of != l) continue;
    for (const auto* list :
         {&layer.signature.weights, &layer.signature.statistics}) {
      for (const WeightSpec& weight : *list) {
        const auto values =
            parameters->Find(absl::StrCat(layer.name, ".", weight.name));
        if (values.ok()) {
          InitializeAsAsked(weight, &random, *values);
        } else {
          SkipDraws(weight, &random);
        }
      }
    }
  }
  if (initialize == nullptr) return parameters;
  for (const Parameter& parameter : parameters->all()) {
    initialize(parameter);
    const int64_t place = FirstRefused(parameter.name, parameter.values);
    if (place < 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the initializer makes parameter \"", parameter.name, "\" ",
        parameter.values[static_cast<size_t>(place)], " at index ", place));
  }
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

#include "footprint/trainer_manager/gradient_steps.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/types/span.h"

namespace footprint {

void AddTensors(const StepData& data) {
  const float* first = data.Read(Role::kInput, 0);
  const float* second = data.Read(Role::kInput, 1);
  float* sum = data.Write(Role::kOutput);
  const int64_t elements = data.elements(Role::kOutput);
  for (int64_t i = 0; i < elements; ++i) sum[i] = first[i] + second[i];
}

void AccumulateGradient(const StepData& data, int64_t part, int64_t parts) {
  const int64_t elements = data.elements(Role::kInput);
  const float* gradient = data.Read(Role::kInput);
  float* sum = data.Write(Role::kOutput);
  const float share = part + 1 == parts ? 1.0f / static_cast<float>(parts) : 1;
  for (int64_t i = 0; i < elements; ++i) {
    sum[i] = (part == 0 ? gradient[i] : sum[i] + gradient[i]) * share;
  }
}

void ClipGradients(const StepData& data, float norm) {
  double squares = 0;
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    const float* gradient = data.Read(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) {
      squares += static_cast<double>(gradient[e]) * gradient[e];
    }
  }
  const double actual = std::sqrt(squares);
  if (!(actual > norm)) return;
  const float scale = static_cast<float>(norm / actual);
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    float* gradient = data.Write(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) gradient[e] *= scale;
  }
}

void ApplyGradients(const StepData& data, const Optimizer& optimizer,
                    float clip_value, int64_t iteration) {
  const int count = optimizer.states_per_weight();
  std::array<float*, kMostOptimizerStates> states = {};
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    for (int j = 0; j < count; ++j) {
      states[static_cast<size_t>(j)] =
          data.Write(Role::kOptimizerState, i * count + j);
    }
    const int64_t elements = data.elements(Role::kGradient, i);
    if (std::isfinite(clip_value)) {
      float* gradient = data.Write(Role::kGradient, i);
      for (int64_t e = 0; e < elements; ++e) {
        gradient[e] = std::min(std::max(gradient[e], -clip_value), clip_value);
      }
    }
    optimizer.Apply(
        iteration, elements, data.Read(Role::kGradient, i),
        data.Write(Role::kWeight, i),
        absl::MakeConstSpan(states.data(), static_cast<size_t>(count)));
  }
}

}  // namespace footprint

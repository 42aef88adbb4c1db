#include "footprint/trainer_manager/runtime/gradient_steps.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/math/divided_loops.h"
#include "footprint/trainer_manager/math/finite_values.h"
#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {
namespace {

using States = std::array<float*, kMostOptimizerStates>;

// Returns the states of weight `index` from element `first` on, which are
// stored in `states`.
absl::Span<float* const> CollectStates(const StepData& data,
                                       const Optimizer& optimizer, int index,
                                       int64_t first, States* states) {
  const int count = optimizer.states_per_weight();
  for (int j = 0; j < count; ++j) {
    (*states)[static_cast<size_t>(j)] =
        data.Write(Role::kOptimizerState, index * count + j) + first;
  }
  return absl::MakeConstSpan(states->data(), static_cast<size_t>(count));
}

// Calls work(band) for bands of a weight's elements: for all of them at once
// unless the optimizer treats each element alone.
void ForEachBandOfWeight(const StepData& data, const Optimizer& optimizer,
                         int index, absl::FunctionRef<void(const Band&)> work) {
  const int64_t elements = data.elements(Role::kGradient, index);
  const MathBackend& math =
      optimizer.is_elementwise() ? data.math() : data.math().OneThread();
  math.ForEachBand(elements, 1, work);
}

bool StaysFinite(const StepData& data, const Optimizer& optimizer, int index,
                 int64_t iteration) {
  std::atomic<bool> finite(true);
  ForEachBandOfWeight(data, optimizer, index, [&](const Band& band) {
    States states;
    if (!optimizer.StaysFinite(
            iteration, band.end - band.begin,
            data.Read(Role::kGradient, index) + band.begin,
            data.Write(Role::kWeight, index) + band.begin,
            CollectStates(data, optimizer, index, band.begin, &states))) {
      finite = false;
    }
  });
  return finite;
}

absl::Status CheckGradient(const StepData& data, int index) {
  const float* gradient = data.Read(Role::kGradient, index);
  const int64_t index_of_value =
      FirstNotFinite(gradient, data.elements(Role::kGradient, index));
  if (index_of_value < 0) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("gradient ", index, " is ",
                                            gradient[index_of_value],
                                            " at index ", index_of_value));
}

absl::Status CheckUpdated(absl::string_view what, int weight,
                          const float* values, int64_t elements) {
  const int64_t index = FirstNotFinite(values, elements);
  if (index < 0) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(
      "the optimizer made ", what, " ", weight, " ", values[index],
      " at index ", index,
      ", which its StaysFinite did not foresee: override StaysFinite to have "
      "such a step refused before anything changes"));
}

}  // namespace

void AddTensors(const StepData& data) {
  AddArrays(data.math(), data.elements(Role::kOutput),
            data.Read(Role::kInput, 0), data.Read(Role::kInput, 1),
            data.Write(Role::kOutput));
}

void AccumulateGradient(const StepData& data, int64_t part, int64_t parts,
                        float weight) {
  const float* gradient = data.Read(Role::kInput);
  float* sum = data.Write(Role::kOutput);
  const float share = part + 1 == parts ? 1.0f / static_cast<float>(parts) : 1;
  data.math().ForEachBand(
      data.elements(Role::kInput), 1, [=](const Band& band) {
        for (int64_t i = band.begin; i < band.end; ++i) {
          const float weighted = weight * gradient[i];
          sum[i] = (part == 0 ? weighted : sum[i] + weighted) * share;
        }
      });
}

bool ClipGradients(const StepData& data, float norm) {
  double squares = 0;
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    const float* gradient = data.Read(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) {
      squares += static_cast<double>(gradient[e]) * gradient[e];
    }
  }
  // The sum of squares of floats does not overflow a double, so only NaN and
  // infinity fail here.
  if (!std::isfinite(squares)) return false;
  const double actual = std::sqrt(squares);
  if (!(actual > norm)) return true;
  const float scale = static_cast<float>(norm / actual);
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    float* gradient = data.Write(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) gradient[e] *= scale;
  }
  return true;
}

absl::Status PrepareGradients(const StepData& data,
                              const WeightOptimizers& optimizers,
                              float clip_value, int64_t iteration) {
  const bool cuts = std::isfinite(clip_value);
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    const Optimizer& optimizer = optimizers.At(i);
    if (cuts) {
      // Infinity must be found first, since the cut would hide it.
      const absl::Status status = CheckGradient(data, i);
      if (!status.ok()) return status;
      float* gradient = data.Write(Role::kGradient, i);
      const int64_t elements = data.elements(Role::kGradient, i);
      for (int64_t e = 0; e < elements; ++e) {
        gradient[e] = std::min(std::max(gradient[e], -clip_value), clip_value);
      }
    }
    if (StaysFinite(data, optimizer, i, iteration)) continue;
    const absl::Status status = CheckGradient(data, i);
    if (!status.ok()) return status;
    return absl::OutOfRangeError(absl::StrCat(
        "gradient ", i,
        " is finite, but would make a weight or what the optimizer remembers "
        "of it NaN or infinite: lower the rate, or clip gradients"));
  }
  return absl::OkStatus();
}

absl::Status ApplyGradients(const StepData& data,
                            const WeightOptimizers& optimizers,
                            int64_t iteration) {
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    const Optimizer& optimizer = optimizers.At(i);
    ForEachBandOfWeight(data, optimizer, i, [&](const Band& band) {
      States states;
      optimizer.Apply(iteration, band.end - band.begin,
                      data.Read(Role::kGradient, i) + band.begin,
                      data.Write(Role::kWeight, i) + band.begin,
                      CollectStates(data, optimizer, i, band.begin, &states));
    });
    if (optimizer.foresees_values()) continue;
    States states;
    const absl::Span<float* const> used =
        CollectStates(data, optimizer, i, /*first=*/0, &states);
    const int64_t elements = data.elements(Role::kGradient, i);
    absl::Status status =
        CheckUpdated("weight", i, data.Write(Role::kWeight, i), elements);
    for (size_t j = 0; j < used.size() && status.ok(); ++j) {
      status = CheckUpdated("a state of weight", i, used[j], elements);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint

#include "footprint/trainer_manager/pooling.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kLargestMaxWindow = 16;  // 256 places fit a byte

struct Windows {
  int64_t planes;
  int64_t input_height;
  int64_t input_width;
  int64_t output_height;
  int64_t output_width;
};

class PoolLayer : public Layer {
 public:
  PoolLayer(int64_t window, int64_t stride)
      : window_(window), stride_(stride == 0 ? window : stride) {}

 protected:
  absl::StatusOr<LayerSignature> DescribePool(const LayerInputs& inputs,
                                              int64_t largest_window) const {
    const absl::Status status = CheckOneFloatInput(inputs, 4, 4);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    if (window_ < 1 || window_ > largest_window || stride_ < 1 ||
        window_ > std::min(input.extent(2), input.extent(3))) {
      return absl::InvalidArgumentError(
          absl::StrCat("a window of ", window_, " with a stride of ", stride_,
                       " does not suit an input of shape ", input.ToString()));
    }
    const Windows w = Geometry(input);
    LayerSignature signature;
    signature.output.shape = {input.extent(0), input.extent(1), w.output_height,
                              w.output_width};
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }

  Windows Geometry(const Shape& input) const {
    return {input.extent(0) * input.extent(1), input.extent(2), input.extent(3),
            (input.extent(2) - window_) / stride_ + 1,
            (input.extent(3) - window_) / stride_ + 1};
  }

  // Calls visit(first input of the window, output), window by window.
  template <typename Visit>
  void ForEachWindow(const Windows& w, Visit visit) const {
    int64_t output = 0;
    for (int64_t plane = 0; plane < w.planes; ++plane) {
      const int64_t start = plane * w.input_height * w.input_width;
      for (int64_t y = 0; y < w.output_height; ++y) {
        for (int64_t x = 0; x < w.output_width; ++x) {
          visit(start + y * stride_ * w.input_width + x * stride_, output++);
        }
      }
    }
  }

  // Calls visit(offset from the window's first input, place in the window).
  template <typename Visit>
  void ForEachPlace(const Windows& w, Visit visit) const {
    for (int64_t y = 0; y < window_; ++y) {
      for (int64_t x = 0; x < window_; ++x) {
        visit(y * w.input_width + x, y * window_ + x);
      }
    }
  }

  const int64_t window_;
  const int64_t stride_;
};

class MaxPool2dLayer final : public PoolLayer {
 public:
  using PoolLayer::PoolLayer;

  absl::string_view type() const override { return "max pool 2d"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::StatusOr<LayerSignature> signature =
        DescribePool(inputs, kLargestMaxWindow);
    if (!signature.ok() || inputs.mode == NetworkMode::kInference) {
      return signature;
    }
    signature->saved = {{signature->output.shape, ElementType::kUint8}};
    signature->forward.writes.push_back({Role::kSaved});
    signature->derivative.reads.push_back({Role::kSaved});
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const Windows w = Geometry(data.shape(Role::kInput));
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    uint8_t* places =
        data.Has(Role::kSaved) ? data.Write<uint8_t>(Role::kSaved) : nullptr;
    ForEachWindow(w, [&](int64_t first, int64_t out) {
      float largest = input[first];
      int64_t largest_place = 0;
      ForEachPlace(w, [&](int64_t offset, int64_t place) {
        const float value = input[first + offset];
        // Not `>`: a NaN must come through.
        if (value <= largest || largest != largest) return;
        largest = value;
        largest_place = place;
      });
      output[out] = largest;
      if (places != nullptr) places[out] = static_cast<uint8_t>(largest_place);
    });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const Windows w = Geometry(data.shape(Role::kInputDerivative));
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    const uint8_t* places = data.Read<uint8_t>(Role::kSaved);
    float* input_derivative = data.Write(Role::kInputDerivative);
    std::fill(input_derivative,
              input_derivative + data.elements(Role::kInputDerivative), 0.0f);
    ForEachWindow(w, [&](int64_t first, int64_t out) {
      if (places[out] >= window_ * window_) {  // poisoned, see Manager
        input_derivative[first] = std::numeric_limits<float>::quiet_NaN();
        return;
      }
      const int64_t y = places[out] / window_;
      const int64_t x = places[out] % window_;
      input_derivative[first + y * w.input_width + x] += output_derivative[out];
    });
  }
};

class AveragePool2dLayer final : public PoolLayer {
 public:
  using PoolLayer::PoolLayer;

  absl::string_view type() const override { return "average pool 2d"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    return DescribePool(inputs, std::numeric_limits<int64_t>::max());
  }

  absl::Status Forward(const StepData& data) const override {
    const Windows w = Geometry(data.shape(Role::kInput));
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    const float share = 1.0f / static_cast<float>(window_ * window_);
    ForEachWindow(w, [&](int64_t first, int64_t out) {
      float sum = 0;
      ForEachPlace(
          w, [&](int64_t offset, int64_t) { sum += input[first + offset]; });
      output[out] = sum * share;
    });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const Windows w = Geometry(data.shape(Role::kInputDerivative));
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    const float share = 1.0f / static_cast<float>(window_ * window_);
    std::fill(input_derivative,
              input_derivative + data.elements(Role::kInputDerivative), 0.0f);
    ForEachWindow(w, [&](int64_t first, int64_t out) {
      const float value = output_derivative[out] * share;
      ForEachPlace(w, [&](int64_t offset, int64_t) {
        input_derivative[first + offset] += value;
      });
    });
  }
};

}  // namespace

LayerPointer MaxPool2d(int64_t window, int64_t stride) {
  return std::make_shared<MaxPool2dLayer>(window, stride);
}
LayerPointer AveragePool2d(int64_t window, int64_t stride) {
  return std::make_shared<AveragePool2dLayer>(window, stride);
}

}  // namespace footprint

#include "footprint/trainer_manager/layers/pooling.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kLargestMaxWindow = 16;  // kMostWinners fit a byte
constexpr size_t kMostWinners = 256;

struct Windows {
  int64_t batch;
  int64_t channels;
  int64_t input_height;
  int64_t input_width;
  int64_t output_height;
  int64_t output_width;
};

class PoolLayer : public Layer {
 public:
  PoolLayer(int64_t window, int64_t stride)
      : window_(window), stride_(stride == 0 ? window : stride) {}

  absl::Status Forward(const StepData& data) const final {
    const Windows w = Geometry(data.shape(Role::kInput));
    ForEachBand(data, w, [&](const Band& band) { ForwardBand(data, w, band); });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const final {
    const Windows w = Geometry(data.shape(Role::kInputDerivative));
    ForEachBand(data, w,
                [&](const Band& band) { DerivativeBand(data, w, band); });
  }

 protected:
  // These run a step for the elements of the batch in a band.
  virtual void ForwardBand(const StepData& data, const Windows& w,
                           const Band& band) const = 0;
  virtual void DerivativeBand(const StepData& data, const Windows& w,
                              const Band& band) const = 0;

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
    signature.recompute = signature.forward;
    signature.recompute_products =
        static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(window_) * static_cast<double>(window_);
    signature.derivative_by_element = true;
    return signature;
  }

  Windows Geometry(const Shape& input) const {
    return {input.extent(0),
            input.extent(1),
            input.extent(2),
            input.extent(3),
            (input.extent(2) - window_) / stride_ + 1,
            (input.extent(3) - window_) / stride_ + 1};
  }

  // Calls work(band) for bands of elements of the batch.
  static void ForEachBand(const StepData& data, const Windows& w,
                          absl::FunctionRef<void(const Band&)> work) {
    data.math().ForEachBand(w.batch,
                            w.channels * w.input_height * w.input_width, work);
  }

  // Calls visit(first input of the window, output), window by window.
  template <typename Visit>
  void ForEachWindow(const Windows& w, const Band& band, Visit visit) const {
    int64_t output = band.begin * w.channels * w.output_height * w.output_width;
    for (int64_t plane = band.begin * w.channels; plane < band.end * w.channels;
         ++plane) {
      const int64_t start = plane * w.input_height * w.input_width;
      for (int64_t y = 0; y < w.output_height; ++y) {
        for (int64_t x = 0; x < w.output_width; ++x) {
          visit(start + y * stride_ * w.input_width + x * stride_, output++);
        }
      }
    }
  }

  // Calls visit(offset from the window's first input, winner in the window).
  template <typename Visit>
  void ForEachWinner(const Windows& w, Visit visit) const {
    for (int64_t y = 0; y < window_; ++y) {
      for (int64_t x = 0; x < window_; ++x) {
        visit(y * w.input_width + x, y * window_ + x);
      }
    }
  }

  // Sets the inputs of the band's windows to 0.
  static void FillInputs(const Windows& w, const Band& band, float* inputs) {
    const int64_t element = w.channels * w.input_height * w.input_width;
    std::fill(inputs + band.begin * element, inputs + band.end * element, 0.0f);
  }

  const int64_t window_;
  const int64_t stride_;
};

// Reads or writes winners of windows in 1, 2, 4 or 8 bits each. Those of an
// element of the batch begin at a byte.
class WinnerCursor {
 public:
  // `bytes` and `outputs` count one element of the batch.
  WinnerCursor(int64_t bytes, int64_t outputs, int64_t window)
      : outputs_(outputs), bits_(bytes == outputs ? 8 : Bits(window)) {}

  static int64_t Bytes(int64_t outputs, int64_t window, bool pack) {
    return pack ? (outputs - 1) / (8 / Bits(window)) + 1 : outputs;
  }

  void Write(int64_t winner, uint8_t* data) {
    if (shift_ == 0) data[byte_] = 0;
    data[byte_] = static_cast<uint8_t>(data[byte_] | (winner << shift_));
    Advance();
  }

  int64_t Read(const uint8_t* data) {
    const int64_t winner = (data[byte_] >> shift_) & ((1 << bits_) - 1);
    Advance();
    return winner;
  }

 private:
  static int Bits(int64_t window) {
    int bits = 1;
    while (int64_t{1} << bits < window * window) bits *= 2;
    return bits;
  }

  void Advance() {
    shift_ += bits_;
    const bool last = ++output_ == outputs_;
    if (last) output_ = 0;
    if (shift_ < 8 && !last) return;
    shift_ = 0;
    ++byte_;
  }

  const int64_t outputs_;
  const int bits_;
  int64_t output_ = 0;
  int64_t byte_ = 0;
  int shift_ = 0;
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
    const Shape& output = signature->output.shape;
    const int64_t bytes = WinnerCursor::Bytes(
        output.elements() / output.extent(0), window_, inputs.pack_winners);
    signature->saved = {{{output.extent(0), bytes}, DType::kU8}};
    signature->forward.writes.push_back({Role::kSaved});
    signature->derivative.reads.push_back({Role::kSaved});
    // Wherever the derivative is not zero, the input is the largest value of a
    // window, which is the output.
    signature->restore_input.reads = {{Role::kOutput}, {Role::kSaved}};
    signature->restore_input.writes = {{Role::kInput}};
    return signature;
  }

  void RestoreInput(const StepData& data) const override {
    const Windows w = Geometry(data.shape(Role::kInput));
    ForEachBand(data, w, [&](const Band& band) { RestoreBand(data, w, band); });
  }

 private:
  void ForwardBand(const StepData& data, const Windows& w,
                   const Band& band) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    const bool saves = data.Has(Role::kSaved);
    uint8_t* saved =
        saves ? data.Write<uint8_t>(Role::kSaved) + FirstWinner(data, band)
              : nullptr;
    WinnerCursor winners = Winners(data, Role::kOutput, saves);
    ForEachWindow(w, band, [&](int64_t first, int64_t out) {
      float largest = input[first];
      int64_t largest_winner = 0;
      ForEachWinner(w, [&](int64_t offset, int64_t winner) {
        const float value = input[first + offset];
        // A plain `>` would lose a NaN.
        if (value <= largest || largest != largest) return;
        largest = value;
        largest_winner = winner;
      });
      output[out] = largest;
      if (saves) winners.Write(largest_winner, saved);
    });
  }

  void DerivativeBand(const StepData& data, const Windows& w,
                      const Band& band) const override {
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    FillInputs(w, band, input_derivative);
    ForEachLargest(data, w, band, Role::kOutputDerivative,
                   [&](int64_t in, int64_t out) {
                     input_derivative[in] += output_derivative[out];
                   });
  }

  void RestoreBand(const StepData& data, const Windows& w,
                   const Band& band) const {
    const float* output = data.Read(Role::kOutput);
    float* input = data.Write(Role::kInput);
    FillInputs(w, band, input);
    ForEachLargest(data, w, band, Role::kOutput,
                   [&](int64_t in, int64_t out) { input[in] = output[out]; });
  }

  // Returns the index of the band's first byte of winners.
  static int64_t FirstWinner(const StepData& data, const Band& band) {
    return band.begin * data.shape(Role::kSaved).extent(1);
  }

  WinnerCursor Winners(const StepData& data, Role output, bool saves) const {
    const int64_t outputs =
        data.elements(output) / data.shape(output).extent(0);
    return {saves ? data.shape(Role::kSaved).extent(1) : outputs, outputs,
            window_};
  }

  // Calls visit(winner in the input, output), window by window.
  template <typename Visit>
  void ForEachLargest(const StepData& data, const Windows& w, const Band& band,
                      Role output, Visit visit) const {
    const uint8_t* saved =
        data.Read<uint8_t>(Role::kSaved) + FirstWinner(data, band);
    WinnerCursor winners = Winners(data, output, true);
    std::array<int64_t, kMostWinners> offsets =
        {};  // even a poisoned winner is a valid index
    ForEachWinner(w, [&](int64_t offset, int64_t winner) {
      offsets[static_cast<size_t>(winner)] = offset;
    });
    ForEachWindow(w, band, [&](int64_t first, int64_t out) {
      visit(first + offsets[static_cast<size_t>(winners.Read(saved))], out);
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

 private:
  void ForwardBand(const StepData& data, const Windows& w,
                   const Band& band) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    const float share = 1.0f / static_cast<float>(window_ * window_);
    ForEachWindow(w, band, [&](int64_t first, int64_t out) {
      float sum = 0;
      ForEachWinner(
          w, [&](int64_t offset, int64_t) { sum += input[first + offset]; });
      output[out] = sum * share;
    });
  }

  void DerivativeBand(const StepData& data, const Windows& w,
                      const Band& band) const override {
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    const float share = 1.0f / static_cast<float>(window_ * window_);
    FillInputs(w, band, input_derivative);
    ForEachWindow(w, band, [&](int64_t first, int64_t out) {
      const float value = output_derivative[out] * share;
      ForEachWinner(w, [&](int64_t offset, int64_t) {
        input_derivative[first + offset] += value;
      });
    });
  }
};

class GlobalAveragePool2dLayer final : public Layer {
 public:
  absl::string_view type() const override { return "global average pool 2d"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 4, 4);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    LayerSignature signature;
    signature.output.shape = {input.extent(0), input.extent(1)};
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.recompute = signature.forward;
    signature.recompute_products = static_cast<double>(input.elements());
    signature.derivative_by_element = true;
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t means = data.elements(Role::kOutput);
    const int64_t plane = data.elements(Role::kInput) / means;
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    data.math().ForEachBand(means, plane, [=](const Band& band) {
      for (int64_t m = band.begin; m < band.end; ++m) {
        double sum = 0;
        for (int64_t i = m * plane; i < (m + 1) * plane; ++i) sum += input[i];
        output[m] = static_cast<float>(sum / static_cast<double>(plane));
      }
    });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const int64_t means = data.elements(Role::kOutputDerivative);
    const int64_t plane = data.elements(Role::kInputDerivative) / means;
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    data.math().ForEachBand(means, plane, [=](const Band& band) {
      for (int64_t m = band.begin; m < band.end; ++m) {
        std::fill(input_derivative + m * plane,
                  input_derivative + (m + 1) * plane,
                  output_derivative[m] / static_cast<float>(plane));
      }
    });
  }
};

}  // namespace

LayerPointer GlobalAveragePool2d() {
  return std::make_shared<GlobalAveragePool2dLayer>();
}
LayerPointer MaxPool2d(int64_t window, int64_t stride) {
  return std::make_shared<MaxPool2dLayer>(window, stride);
}
LayerPointer AveragePool2d(int64_t window, int64_t stride) {
  return std::make_shared<AveragePool2dLayer>(window, stride);
}

}  // namespace footprint

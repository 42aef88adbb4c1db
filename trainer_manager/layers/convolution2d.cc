#include "footprint/trainer_manager/layers/convolution2d.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kLargestOption = int64_t{1} << 20;

class Convolution2dLayer final : public Layer {
 public:
  explicit Convolution2dLayer(const Convolution2dOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "convolution 2d"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 4, 4);
    if (status.ok()) status = CheckOptions(inputs.inputs[0].shape);
    if (!status.ok()) return status;
    const Convolution c = Geometry(inputs.inputs[0].shape);
    LayerSignature signature;
    signature.output.shape = {c.batch, c.output_channels, c.output_height,
                              c.output_width};
    signature.weights = {
        {"weight",
         {{c.output_channels, c.input_channels, c.kernel, c.kernel}},
         Initializer::kNormalByFan}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight, 0}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient, 0}};
    signature.derivative.reads = {{Role::kWeight, 0},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.derivative_by_element = true;
    if (options_.bias) {
      signature.weights.push_back(
          {"bias", {{c.output_channels}}, Initializer::kZeros});
      signature.forward.reads.push_back({Role::kWeight, 1});
      signature.gradient.writes.push_back({Role::kGradient, 1});
    }
    status = CheckSizes(signature);
    if (!status.ok()) return status;
    const MathBackend& math = inputs.math;
    AddWorkspace(math.WorkspaceBytes(c, ConvolutionStep::kForward), &signature,
                 &signature.forward);
    signature.recompute = signature.forward;
    signature.recompute_products =
        static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(c.input_channels) *
        static_cast<double>(c.kernel * c.kernel);
    AddWorkspace(math.WorkspaceBytes(c, ConvolutionStep::kGradient), &signature,
                 &signature.gradient);
    AddWorkspace(math.WorkspaceBytes(c, ConvolutionStep::kDerivative),
                 &signature, &signature.derivative);
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    data.math().ConvolutionForward(
        Geometry(data.shape(Role::kInput)), data.Read(Role::kInput),
        data.Read(Role::kWeight, 0),
        options_.bias ? data.Read(Role::kWeight, 1) : nullptr,
        data.Write(Role::kOutput), data.Workspace());
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const Convolution c = Geometry(data.shape(Role::kInput));
    const float* derivative = data.Read(Role::kOutputDerivative);
    data.math().ConvolutionGradient(c, data.Read(Role::kInput), derivative,
                                    data.Write(Role::kGradient, 0),
                                    data.Workspace());
    if (!options_.bias) return;
    float* bias = data.Write(Role::kGradient, 1);
    const int64_t plane = c.output_height * c.output_width;
    std::fill(bias, bias + c.output_channels, 0.0f);
    for (int64_t i = 0; i < c.batch * c.output_channels; ++i) {
      float sum = 0;
      for (int64_t p = 0; p < plane; ++p) sum += derivative[i * plane + p];
      bias[i % c.output_channels] += sum;
    }
  }

  void CalculateDerivative(const StepData& data) const override {
    data.math().ConvolutionDerivative(
        Geometry(data.shape(Role::kInputDerivative)),
        data.Read(Role::kWeight, 0), data.Read(Role::kOutputDerivative),
        data.Write(Role::kInputDerivative), data.Workspace());
  }

 private:
  absl::Status CheckOptions(const Shape& input) const {
    for (const int64_t option :
         {options_.channels, options_.kernel, options_.stride}) {
      if (option < 1 || option > kLargestOption) {
        return absl::InvalidArgumentError(
            absl::StrCat("channels, kernel and stride must be from 1 to ",
                         kLargestOption, ", not ", option));
      }
    }
    if (options_.padding < 0 || options_.padding >= options_.kernel) {
      return absl::InvalidArgumentError(
          absl::StrCat("a padding of ", options_.padding,
                       "; from 0 to the kernel less 1 is needed"));
    }
    for (int axis = 2; axis < 4; ++axis) {
      if (input.extent(axis) > INT64_MAX / 4 ||
          input.extent(axis) + 2 * options_.padding < options_.kernel) {
        return absl::InvalidArgumentError(
            absl::StrCat("a kernel of ", options_.kernel, " with a padding of ",
                         options_.padding, " does not fit an input of shape ",
                         input.ToString()));
      }
    }
    return absl::OkStatus();
  }

  int64_t OutputExtent(int64_t input) const {
    return (input + 2 * options_.padding - options_.kernel) / options_.stride +
           1;
  }

  Convolution Geometry(const Shape& input) const {
    Convolution c;
    c.batch = input.extent(0);
    c.input_channels = input.extent(1);
    c.input_height = input.extent(2);
    c.input_width = input.extent(3);
    c.output_channels = options_.channels;
    c.output_height = OutputExtent(c.input_height);
    c.output_width = OutputExtent(c.input_width);
    c.kernel = options_.kernel;
    c.stride = options_.stride;
    c.padding = options_.padding;
    return c;
  }

  const Convolution2dOptions options_;
};

}  // namespace

LayerPointer Convolution2d(const Convolution2dOptions& options) {
  return std::make_shared<Convolution2dLayer>(options);
}

}  // namespace footprint

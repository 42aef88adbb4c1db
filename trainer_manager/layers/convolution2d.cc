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
    // Describes the tensors, and which of them each step reads and writes.
    const Convolution c = Geometry(inputs.inputs[0].shape);
    LayerSignature signature;
    signature.output.shape = {c.batch, c.output_channels, c.output_height,
                              c.output_width};
    signature.weights = {
        {"weight",
         {{c.output_channels, c.input_channels / options_.groups, c.kernel,
           c.kernel}},
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
    // Adds workspaces. The backend computes one group at a time. With several
    // groups, a gradient also needs room for the weight gradient of one group.
    const MathBackend& math = inputs.math;
    const Convolution part = PartOf(c);
    AddWorkspace(math.WorkspaceBytes(part, ConvolutionStep::kForward),
                 &signature, &signature.forward);
    signature.recompute = signature.forward;
    signature.recompute_products =
        static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(part.input_channels) *
        static_cast<double>(c.kernel * c.kernel);
    const int64_t sum_bytes =
        options_.groups == 1 ? 0 : WeightsOf(part) * int64_t{sizeof(float)};
    AddWorkspace(
        sum_bytes + math.WorkspaceBytes(part, ConvolutionStep::kGradient),
        &signature, &signature.gradient);
    AddWorkspace(math.WorkspaceBytes(part, ConvolutionStep::kDerivative),
                 &signature, &signature.derivative);
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    const float* weight = data.Read(Role::kWeight, 0);
    const float* bias = options_.bias ? data.Read(Role::kWeight, 1) : nullptr;
    float* output = data.Write(Role::kOutput);
    const Convolution c = Geometry(data.shape(Role::kInput));
    ForEachPart(c, [&](const Convolution& part, const Place& at) {
      data.math().ConvolutionForward(
          part, input + at.input, weight + at.weight,
          bias == nullptr ? nullptr : bias + at.channel, output + at.output,
          data.Workspace());
    });
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const Convolution c = Geometry(data.shape(Role::kInput));
    const float* derivative = data.Read(Role::kOutputDerivative);
    const float* input = data.Read(Role::kInput);
    float* gradient = data.Write(Role::kGradient, 0);
    ForEachPart(c, [&](const Convolution& part, const Place& at) {
      if (at.image == 0) {
        data.math().ConvolutionGradient(
            part, input + at.input, derivative + at.output,
            gradient + at.weight, Behind(data, part));
        return;
      }
      float* sum = static_cast<float*>(data.Workspace());
      data.math().ConvolutionGradient(part, input + at.input,
                                      derivative + at.output, sum,
                                      Behind(data, part));
      for (int64_t i = 0; i < WeightsOf(part); ++i) {
        gradient[at.weight + i] += sum[i];
      }
    });
    if (!options_.bias) return;
    float* bias = data.Write(Role::kGradient, 1);
    const int64_t plane = c.output_height * c.output_width;
    data.math().ForEachBand(
        c.output_channels, c.batch * plane, [=](const Band& band) {
          for (int64_t channel = band.begin; channel < band.end; ++channel) {
            bias[channel] = 0;
            for (int64_t b = 0; b < c.batch; ++b) {
              const int64_t first = (b * c.output_channels + channel) * plane;
              float sum = 0;
              for (int64_t p = 0; p < plane; ++p) sum += derivative[first + p];
              bias[channel] += sum;
            }
          }
        });
  }

  void CalculateDerivative(const StepData& data) const override {
    const float* weight = data.Read(Role::kWeight, 0);
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    const Convolution c = Geometry(data.shape(Role::kInputDerivative));
    ForEachPart(c, [&](const Convolution& part, const Place& at) {
      data.math().ConvolutionDerivative(
          part, weight + at.weight, output_derivative + at.output,
          input_derivative + at.input, data.Workspace());
    });
  }

 private:
  // The position of a part: one group of an image, or the whole batch if there
  // is only one group.
  struct Place {
    int64_t image = 0;
    int64_t channel = 0;  // the first output channel
    int64_t input = 0;
    int64_t weight = 0;
    int64_t output = 0;
  };

  // Returns the part that the backend computes at once. With several groups
  // this is one image, since a group's channels are contiguous only within an
  // image.
  Convolution PartOf(const Convolution& whole) const {
    Convolution part = whole;
    if (options_.groups == 1) return part;
    part.batch = 1;
    part.input_channels /= options_.groups;
    part.output_channels /= options_.groups;
    return part;
  }

  static int64_t WeightsOf(const Convolution& c) {
    return c.output_channels * c.input_channels * c.kernel * c.kernel;
  }

  // Calls visit(part, place), image by image.
  template <typename Visit>
  void ForEachPart(const Convolution& whole, const Visit& visit) const {
    const Convolution part = PartOf(whole);
    const int64_t input =
        part.input_channels * part.input_height * part.input_width;
    const int64_t output =
        part.output_channels * part.output_height * part.output_width;
    for (int64_t i = 0; i < whole.batch / part.batch; ++i) {
      for (int64_t g = 0; g < options_.groups; ++g) {
        const int64_t number = i * options_.groups + g;
        visit(part, {i, g * part.output_channels, number * input,
                     g * WeightsOf(part), number * output});
      }
    }
  }

  // Returns the backend's workspace of a gradient, which lies after the part's
  // own gradient.
  void* Behind(const StepData& data, const Convolution& part) const {
    if (options_.groups == 1) return data.Workspace();
    if (data.math().WorkspaceBytes(part, ConvolutionStep::kGradient) == 0) {
      return nullptr;
    }
    return static_cast<float*>(data.Workspace()) + WeightsOf(part);
  }

  absl::Status CheckOptions(const Shape& input) const {
    for (const int64_t option :
         {options_.channels, options_.kernel, options_.stride}) {
      if (option < 1 || option > kLargestOption) {
        return absl::InvalidArgumentError(
            absl::StrCat("channels, kernel and stride must be from 1 to ",
                         kLargestOption, ", not ", option));
      }
    }
    if (options_.groups < 1 || options_.channels % options_.groups != 0 ||
        input.extent(1) % options_.groups != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          input.extent(1), " input channels and ", options_.channels,
          " output channels cannot be divided into ", options_.groups,
          " groups"));
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

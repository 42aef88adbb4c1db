#include "footprint/lowmem/models/dense_layer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/weights/float_reader.h"

namespace footprint {
namespace {

double Activated(DenseKind kind, double sum) {
  switch (kind) {
    case DenseKind::kTanh:
      return std::tanh(sum);
    case DenseKind::kRelu:
      return std::max(sum, 0.0);
    case DenseKind::kGelu:
      return sum * 0.5 * std::erfc(-sum / std::sqrt(2.0));
    case DenseKind::kSigmoid:
      return 1 / (1 + std::exp(-sum));
    case DenseKind::kNone:
      break;
  }
  return sum;
}

// "torch.nn.modules.activation.Tanh"
DenseKind ReadKind(ConfigReader& reader) {
  struct Name {
    const char* end;
    DenseKind kind;
  };
  constexpr Name kNames[] = {{".Identity", DenseKind::kNone},
                             {".Tanh", DenseKind::kTanh},
                             {".ReLU", DenseKind::kRelu},
                             {".GELU", DenseKind::kGelu},
                             {".Sigmoid", DenseKind::kSigmoid}};
  const std::string text = reader.TextOr("activation_function", ".Tanh");
  for (const Name& name : kNames) {
    if (absl::EndsWith(text, name.end)) return name.kind;
  }
  reader.Refuse("activation_function", text,
                "Identity, Tanh, ReLU, GELU and Sigmoid of torch");
  return DenseKind::kNone;
}

}  // namespace

absl::Status DenseLayer::Apply(absl::Span<const float> input,
                               absl::Span<float> output) const {
  std::vector<float> row(input.size());
  if (weights.bias.exists()) {
    const absl::Status status = ReadRow(*store, weights.bias, 0, output.data());
    if (!status.ok()) return status;
  }
  for (int64_t i = 0; i < outputs(); ++i) {
    const absl::Status status = ReadRow(*store, weights.matrix, i, row.data());
    if (!status.ok()) return status;
    double sum = weights.bias.exists() ? output[i] : 0;
    for (size_t j = 0; j < row.size(); ++j) {
      sum += static_cast<double>(row[j]) * input[j];
    }
    output[i] = static_cast<float>(Activated(kind, sum));
  }
  return absl::OkStatus();
}

absl::StatusOr<DenseModule> DenseModule::Open(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, path);
  if (!reader.ok()) return reader.status();
  const int64_t inputs = reader->Extent("in_features");
  const int64_t outputs = reader->Extent("out_features");
  const bool has_bias = reader->FlagOr("bias", true);
  DenseModule module;
  module.layer_.kind = ReadKind(*reader);
  if (!reader->status().ok()) return reader->status();
  auto store = OpenFolderWeights(folder, WeightBackend::kPread);
  if (!store.ok()) return store.status();
  module.store_ = *std::move(store);
  module.layer_.store = module.store_.get();
  WeightBinder binder(*module.store_, "", "linear.weight");
  module.layer_.weights =
      binder.LinearWithBias("linear", outputs, inputs, has_bias);
  if (!binder.status().ok()) return binder.status();
  return module;
}

}  // namespace footprint

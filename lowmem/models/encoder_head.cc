#include "footprint/lowmem/models/encoder_head.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/models/weight_binder.h"

namespace footprint {
namespace {

struct HeadNames {
  const char* prefix;  // of the first layer only
  const char* first;
  DenseKind kind;
  const char* last;
};

HeadNames FindNames(EncoderFamily family) {
  switch (family) {
    case EncoderFamily::kBert:
      return {"bert.", "pooler.dense", DenseKind::kTanh, "classifier"};
    case EncoderFamily::kDistilBert:
      return {"", "pre_classifier", DenseKind::kRelu, "classifier"};
    case EncoderFamily::kRoberta:
    case EncoderFamily::kMpnet:
      break;
  }
  return {"", "classifier.dense", DenseKind::kTanh, "classifier.out_proj"};
}

}  // namespace

absl::StatusOr<std::vector<DenseLayer>> FindEncoderHead(
    const EncoderConfig& config, WeightStore* store) {
  const HeadNames names = FindNames(config.family);
  const auto last = store->Find(absl::StrCat(names.last, ".weight"));
  if (!last.ok()) {
    return absl::Status(
        last.status().code(),
        absl::StrCat(last.status().message(),
                     "; scores need a model with a classifier's head, of "
                     "...ForSequenceClassification"));
  }
  WeightBinder first(*store, names.prefix,
                     absl::StrCat(names.first, ".weight"));
  std::vector<DenseLayer> layers;
  layers.push_back({store,
                    first.Linear(names.first, config.hidden, config.hidden),
                    names.kind});
  if (!first.status().ok()) return first.status();
  WeightBinder binder(*store, "", "");
  layers.push_back(
      {store, binder.Linear(names.last, last->rows(), config.hidden)});
  if (!binder.status().ok()) return binder.status();
  return layers;
}

absl::StatusOr<std::vector<float>> ApplyLayers(
    absl::Span<const DenseLayer> layers, absl::Span<const float> vector) {
  std::vector<float> current(vector.begin(), vector.end());
  for (const DenseLayer& layer : layers) {
    std::vector<float> next(layer.outputs());
    const absl::Status status = layer.Apply(current, absl::MakeSpan(next));
    if (!status.ok()) return status;
    current = std::move(next);
  }
  return current;
}

}  // namespace footprint

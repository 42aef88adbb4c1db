#include "footprint/lowmem/encoder_weights.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/lowmem/safetensors.h"
#include "footprint/lowmem/token_panel.h"

namespace footprint {
namespace {

struct FamilyNames {
  const char* prefix;
  const char* layer;  // followed by the number
  const char* query;
  const char* key;
  const char* value;
  const char* attention_output;
  const char* attention_norm;
  const char* expand;
  const char* contract;
  const char* output_norm;
};

constexpr FamilyNames kBertNames = {"bert.",
                                    "encoder.layer.",
                                    "attention.self.query",
                                    "attention.self.key",
                                    "attention.self.value",
                                    "attention.output.dense",
                                    "attention.output.LayerNorm",
                                    "intermediate.dense",
                                    "output.dense",
                                    "output.LayerNorm"};
constexpr FamilyNames kDistilBertNames = {
    "distilbert.",      "transformer.layer.", "attention.q_lin",
    "attention.k_lin",  "attention.v_lin",    "attention.out_lin",
    "sa_layer_norm",    "ffn.lin1",           "ffn.lin2",
    "output_layer_norm"};

class WeightFinder {
 public:
  WeightFinder(const WeightStore& store, const EncoderConfig& config)
      : store_(store),
        names_(config.family == EncoderFamily::kBert ? kBertNames
                                                     : kDistilBertNames) {
    const std::string words = "embeddings.word_embeddings.weight";
    if (store.index().FindOrNull(names_.prefix + words) != nullptr) {
      prefix_ = names_.prefix;
    }
  }

  const FamilyNames& names() const { return names_; }
  const absl::Status& status() const { return status_; }

  std::string LayerName(int64_t layer) const {
    return absl::StrCat(names_.layer, layer, ".");
  }

  Weight Matrix(const std::string& name, int64_t rows, int64_t columns) {
    return Shaped(prefix_ + name, {rows, columns});
  }

  Weight Vector(const std::string& name, int64_t count) {
    return Shaped(prefix_ + name, {count});
  }

  LinearWeights Linear(const std::string& name, int64_t rows, int64_t columns) {
    return {Matrix(name + ".weight", rows, columns),
            Vector(name + ".bias", rows)};
  }

  NormTensors Norm(const std::string& name, int64_t count) {
    const bool old =
        store_.index().FindOrNull(prefix_ + name + ".gamma") != nullptr;
    return {Vector(name + (old ? ".gamma" : ".weight"), count),
            Vector(name + (old ? ".beta" : ".bias"), count)};
  }

  // A checkpoint with more layers than its config is another model's.
  void CheckNoLayer(int64_t layer) {
    const std::string beyond = prefix_ + LayerName(layer);
    for (const TensorInfo& tensor : store_.index().tensors()) {
      if (absl::StartsWith(tensor.name, beyond)) {
        Fail(absl::StrCat("there is ", tensor.name, ", but the config has ",
                          layer, " layers"));
        return;
      }
    }
  }

 private:
  void Fail(const std::string& what) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat(store_.index().file_name(), ": ", what)));
  }

  Weight Shaped(const std::string& name, const TensorShape& shape) {
    const absl::StatusOr<Weight> weight = store_.Find(name);
    if (!weight.ok()) {
      status_.Update(weight.status());
      return Weight();
    }
    if (weight->shape() != shape) {
      Fail(absl::StrCat(name, " is ", ShapeText(weight->shape()),
                        ", but the config asks for ", ShapeText(shape)));
    }
    const DType type = weight->dtype();
    if (type != DType::kF32 && type != DType::kBF16 && type != DType::kF16) {
      Fail(absl::StrCat(name, " holds ", DTypeName(type),
                        "; F32, BF16 and F16 can be computed with"));
    }
    if (weight->panel_columns() != weight->columns() &&
        weight->panel_columns() % kSumBlock != 0) {
      Fail(absl::StrCat(name, " is packed in panels of ",
                        weight->panel_columns(), " columns; multiples of ",
                        kSumBlock, " can be computed with"));
    }
    return *weight;
  }

  const WeightStore& store_;
  const FamilyNames& names_;
  std::string prefix_;
  absl::Status status_;
};

EncoderLayerWeights FindLayer(WeightFinder& finder, const EncoderConfig& config,
                              int64_t layer) {
  const FamilyNames& names = finder.names();
  const std::string begin = finder.LayerName(layer);
  const int64_t hidden = config.hidden;
  EncoderLayerWeights weights;
  weights.query = finder.Linear(begin + names.query, hidden, hidden);
  weights.key = finder.Linear(begin + names.key, hidden, hidden);
  weights.value = finder.Linear(begin + names.value, hidden, hidden);
  weights.attention_output =
      finder.Linear(begin + names.attention_output, hidden, hidden);
  weights.attention_norm = finder.Norm(begin + names.attention_norm, hidden);
  weights.expand =
      finder.Linear(begin + names.expand, config.intermediate, hidden);
  weights.contract =
      finder.Linear(begin + names.contract, hidden, config.intermediate);
  weights.output_norm = finder.Norm(begin + names.output_norm, hidden);
  return weights;
}

}  // namespace

ElementType ElementTypeOf(const Weight& weight) {
  switch (weight.dtype()) {
    case DType::kBF16:
      return ElementType::kBfloat16;
    case DType::kF16:
      return ElementType::kFloat16;
    default:
      return ElementType::kFloat32;
  }
}

absl::StatusOr<EncoderWeights> FindEncoderWeights(const WeightStore& store,
                                                  const EncoderConfig& config) {
  WeightFinder finder(store, config);
  EncoderWeights weights;
  const std::string embeddings = "embeddings.";
  weights.words = finder.Matrix(embeddings + "word_embeddings.weight",
                                config.vocabulary, config.hidden);
  weights.positions = finder.Matrix(embeddings + "position_embeddings.weight",
                                    config.positions, config.hidden);
  if (config.token_types > 0) {
    weights.token_types =
        finder.Matrix(embeddings + "token_type_embeddings.weight",
                      config.token_types, config.hidden);
  }
  weights.norm = finder.Norm(embeddings + "LayerNorm", config.hidden);
  for (int64_t layer = 0; layer < config.layers && finder.status().ok();
       ++layer) {
    weights.layers.push_back(FindLayer(finder, config, layer));
  }
  finder.CheckNoLayer(config.layers);
  if (!finder.status().ok()) return finder.status();
  return weights;
}

}  // namespace footprint

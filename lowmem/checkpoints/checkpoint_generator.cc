#include "footprint/lowmem/checkpoints/checkpoint_generator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/lowmem/checkpoints/half_float.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr int64_t kChunkElements = 64 * 1024;

struct NamedShape {
  const char* name;
  CheckpointShape shape;
};

constexpr NamedShape kNamedShapes[] = {
    {"bert-base", {CheckpointFamily::kBert, 30522, 512, 768, 12, 12, 3072, 2}},
    {"bert-large",
     {CheckpointFamily::kBert, 30522, 512, 1024, 24, 16, 4096, 2}},
    {"bert-large-multilingual",
     {CheckpointFamily::kBert, 119547, 512, 1024, 24, 16, 4096, 2}},
    {"minilm", {CheckpointFamily::kBert, 30522, 512, 384, 6, 12, 1536, 2}},
    {"distilbert",
     {CheckpointFamily::kDistilBert, 30522, 512, 768, 6, 12, 3072, 0}},
    {"gpt2", {CheckpointFamily::kGpt2, 50257, 1024, 768, 12, 12, 3072, 0}},
    {"gpt2-medium",
     {CheckpointFamily::kGpt2, 50257, 1024, 1024, 24, 16, 4096, 0}},
    {"gpt2-large",
     {CheckpointFamily::kGpt2, 50257, 1024, 1280, 36, 20, 5120, 0}},
    {"gpt2-xl", {CheckpointFamily::kGpt2, 50257, 1024, 1600, 48, 25, 6400, 0}},
};

absl::Status CheckShape(const CheckpointShape& shape) {
  constexpr int64_t kMaximum = std::numeric_limits<int32_t>::max();
  const int64_t extents[] = {shape.vocabulary, shape.positions,
                             shape.hidden,     shape.layers,
                             shape.heads,      shape.intermediate};
  for (const int64_t extent : extents) {
    if (extent < 1 || extent > kMaximum) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an extent of ", extent, " is not within 1 and ", kMaximum));
    }
  }
  if (shape.hidden % shape.heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        shape.hidden, " features do not divide among ", shape.heads, " heads"));
  }
  if (shape.family == CheckpointFamily::kBert &&
      (shape.token_types < 1 || shape.token_types > kMaximum)) {
    return absl::InvalidArgumentError("BERT wants at least one token type");
  }
  return absl::OkStatus();
}

// Collects the tensors of a model.
class Tensors {
 public:
  explicit Tensors(DType dtype) : dtype_(dtype) {}

  void Add(const std::string& name, Shape shape) {
    specs_.push_back({name, dtype_, std::move(shape)});
  }
  // As PyTorch's Linear: [out, in].
  void AddLinear(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in});
    Add(name + ".bias", {out});
  }
  // As GPT-2's Conv1D: [in, out].
  void AddConv1D(const std::string& name, int64_t in, int64_t out) {
    Add(name + ".weight", {in, out});
    Add(name + ".bias", {out});
  }
  void AddNorm(const std::string& name, int64_t features) {
    Add(name + ".weight", {features});
    Add(name + ".bias", {features});
  }
  std::vector<TensorSpec> Take() { return std::move(specs_); }

 private:
  const DType dtype_;
  std::vector<TensorSpec> specs_;
};

void AddBert(const CheckpointShape& shape, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  tensors.Add("embeddings.word_embeddings.weight", {shape.vocabulary, hidden});
  tensors.Add("embeddings.position_embeddings.weight",
              {shape.positions, hidden});
  tensors.Add("embeddings.token_type_embeddings.weight",
              {shape.token_types, hidden});
  tensors.AddNorm("embeddings.LayerNorm", hidden);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("encoder.layer.", i, ".");
    for (const char* part : {"query", "key", "value"}) {
      tensors.AddLinear(layer + "attention.self." + part, hidden, hidden);
    }
    tensors.AddLinear(layer + "attention.output.dense", hidden, hidden);
    tensors.AddNorm(layer + "attention.output.LayerNorm", hidden);
    tensors.AddLinear(layer + "intermediate.dense", shape.intermediate, hidden);
    tensors.AddLinear(layer + "output.dense", hidden, shape.intermediate);
    tensors.AddNorm(layer + "output.LayerNorm", hidden);
  }
  tensors.AddLinear("pooler.dense", hidden, hidden);
}

void AddDistilBert(const CheckpointShape& shape, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  tensors.Add("embeddings.word_embeddings.weight", {shape.vocabulary, hidden});
  tensors.Add("embeddings.position_embeddings.weight",
              {shape.positions, hidden});
  tensors.AddNorm("embeddings.LayerNorm", hidden);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("transformer.layer.", i, ".");
    for (const char* part : {"q_lin", "k_lin", "v_lin", "out_lin"}) {
      tensors.AddLinear(layer + "attention." + part, hidden, hidden);
    }
    tensors.AddNorm(layer + "sa_layer_norm", hidden);
    tensors.AddLinear(layer + "ffn.lin1", shape.intermediate, hidden);
    tensors.AddLinear(layer + "ffn.lin2", hidden, shape.intermediate);
    tensors.AddNorm(layer + "output_layer_norm", hidden);
  }
}

void AddGpt2(const CheckpointShape& shape, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  tensors.Add("wte.weight", {shape.vocabulary, hidden});
  tensors.Add("wpe.weight", {shape.positions, hidden});
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("h.", i, ".");
    tensors.AddNorm(layer + "ln_1", hidden);
    tensors.AddConv1D(layer + "attn.c_attn", hidden, 3 * hidden);
    tensors.AddConv1D(layer + "attn.c_proj", hidden, hidden);
    tensors.AddNorm(layer + "ln_2", hidden);
    tensors.AddConv1D(layer + "mlp.c_fc", hidden, shape.intermediate);
    tensors.AddConv1D(layer + "mlp.c_proj", shape.intermediate, hidden);
  }
  tensors.AddNorm("ln_f", hidden);
}

// A well-mixed number for each number.
uint64_t Mixed(uint64_t value) { return RandomAt(value, 1); }

uint64_t TensorSeed(uint64_t seed, absl::string_view name) {
  uint64_t mixed = Mixed(seed);
  for (const char c : name)
    mixed = Mixed(mixed ^ static_cast<unsigned char>(c));
  return mixed;
}

bool IsGain(absl::string_view name) {
  if (!absl::EndsWith(name, ".weight")) return false;
  name.remove_suffix(7);
  return absl::EndsWith(name, "LayerNorm") ||
         absl::EndsWith(name, "layer_norm") || absl::EndsWith(name, "ln_1") ||
         absl::EndsWith(name, "ln_2") || absl::EndsWith(name, "ln_f");
}

// The sum of four even numbers of 16 bits, about normal: of mean 0 and variance
// 4 (2^32 - 1) / 12, so that the factor makes the deviation 0.02.
float WeightValue(uint64_t mixed) {
  constexpr float kFactor = 0.02f / 37837.0f;
  const int32_t sum =
      static_cast<int32_t>((mixed & 0xffff) + (mixed >> 16 & 0xffff) +
                           (mixed >> 32 & 0xffff) + (mixed >> 48)) -
      2 * 65535;
  return static_cast<float>(sum) * kFactor;
}

// Even from 0.8 to 1.2.
float GainValue(uint64_t mixed) {
  constexpr float kFactor = 0.8f / 131072.0f;
  return static_cast<float>(131072 + static_cast<int32_t>(mixed & 0xffff)) *
         kFactor;
}

void EncodeValues(uint64_t tensor_seed, bool gain, DType dtype, int64_t begin,
                  int64_t count, char* bytes) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t mixed =
        Mixed(tensor_seed + static_cast<uint64_t>(begin + i));
    const float value = gain ? GainValue(mixed) : WeightValue(mixed);
    if (dtype == DType::kF32) {
      memcpy(bytes + 4 * i, &value, 4);
    } else {
      const uint16_t half = dtype == DType::kBF16 ? RoundToBfloat16(value)
                                                  : RoundToFloat16(value);
      memcpy(bytes + 2 * i, &half, 2);
    }
  }
}

absl::Status WriteValues(const std::vector<TensorSpec>& tensors,
                         const CheckpointOptions& options,
                         SafetensorsWriter& writer) {
  const int64_t element_bytes = DTypeBytes(options.dtype);
  std::string chunk(static_cast<size_t>(kChunkElements * element_bytes), '\0');
  int64_t done_bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    const uint64_t seed = TensorSeed(options.seed, tensor.name);
    const bool gain = IsGain(tensor.name);
    const int64_t elements =
        *TensorBytes(tensor.dtype, tensor.shape) / element_bytes;
    for (int64_t begin = 0; begin < elements; begin += kChunkElements) {
      const int64_t count = std::min(kChunkElements, elements - begin);
      EncodeValues(seed, gain, options.dtype, begin, count, &chunk[0]);
      absl::Status written = writer.Append(chunk.data(), count * element_bytes);
      if (!written.ok()) return written;
      done_bytes += count * element_bytes;
      if (options.progress) options.progress(done_bytes, writer.file_bytes());
    }
  }
  if (options.progress) {
    options.progress(writer.file_bytes(), writer.file_bytes());
  }
  return absl::OkStatus();
}

const char* TorchName(DType dtype) {
  if (dtype == DType::kBF16) return "bfloat16";
  return dtype == DType::kF16 ? "float16" : "float32";
}

nlohmann::ordered_json BertConfig(const CheckpointShape& shape) {
  return {{"architectures", {"BertModel"}},
          {"model_type", "bert"},
          {"hidden_act", "gelu"},
          {"hidden_size", shape.hidden},
          {"intermediate_size", shape.intermediate},
          {"layer_norm_eps", 1e-12},
          {"max_position_embeddings", shape.positions},
          {"num_attention_heads", shape.heads},
          {"num_hidden_layers", shape.layers},
          {"pad_token_id", 0},
          {"position_embedding_type", "absolute"},
          {"type_vocab_size", shape.token_types},
          {"vocab_size", shape.vocabulary}};
}

nlohmann::ordered_json DistilBertConfig(const CheckpointShape& shape) {
  return {{"architectures", {"DistilBertModel"}},
          {"model_type", "distilbert"},
          {"activation", "gelu"},
          {"dim", shape.hidden},
          {"hidden_dim", shape.intermediate},
          {"max_position_embeddings", shape.positions},
          {"n_heads", shape.heads},
          {"n_layers", shape.layers},
          {"pad_token_id", 0},
          {"sinusoidal_pos_embds", false},
          {"vocab_size", shape.vocabulary}};
}

nlohmann::ordered_json Gpt2Config(const CheckpointShape& shape) {
  return {{"architectures", {"GPT2Model"}},
          {"model_type", "gpt2"},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", 1e-5},
          {"n_ctx", shape.positions},
          {"n_embd", shape.hidden},
          {"n_head", shape.heads},
          {"n_inner", shape.intermediate},
          {"n_layer", shape.layers},
          {"n_positions", shape.positions},
          {"vocab_size", shape.vocabulary}};
}

}  // namespace

absl::StatusOr<CheckpointShape> CheckpointShapeFromName(
    absl::string_view name) {
  for (const NamedShape& named : kNamedShapes) {
    if (name == named.name) return named.shape;
  }
  return absl::NotFoundError(
      absl::StrCat("no shape \"", name, "\"; there are ",
                   absl::StrJoin(CheckpointShapeNames(), ", ")));
}

std::vector<std::string> CheckpointShapeNames() {
  std::vector<std::string> names;
  for (const NamedShape& named : kNamedShapes) names.push_back(named.name);
  return names;
}

absl::StatusOr<std::vector<TensorSpec>> CheckpointTensors(
    const CheckpointShape& shape, DType dtype) {
  absl::Status checked = CheckShape(shape);
  if (!checked.ok()) return checked;
  if (dtype != DType::kF32 && dtype != DType::kBF16 && dtype != DType::kF16) {
    return absl::InvalidArgumentError(
        absl::StrCat("weights are F32, BF16 or F16, not ", DTypeName(dtype)));
  }
  Tensors tensors(dtype);
  switch (shape.family) {
    case CheckpointFamily::kBert:
      AddBert(shape, tensors);
      break;
    case CheckpointFamily::kDistilBert:
      AddDistilBert(shape, tensors);
      break;
    case CheckpointFamily::kGpt2:
      AddGpt2(shape, tensors);
      break;
  }
  return tensors.Take();
}

std::string CheckpointConfig(const CheckpointShape& shape, DType dtype) {
  nlohmann::ordered_json config;
  switch (shape.family) {
    case CheckpointFamily::kBert:
      config = BertConfig(shape);
      break;
    case CheckpointFamily::kDistilBert:
      config = DistilBertConfig(shape);
      break;
    case CheckpointFamily::kGpt2:
      config = Gpt2Config(shape);
      break;
  }
  config["torch_dtype"] = TorchName(dtype);
  return config.dump(2) + "\n";
}

float CheckpointValue(uint64_t seed, absl::string_view name, int64_t index) {
  const uint64_t mixed =
      Mixed(TensorSeed(seed, name) + static_cast<uint64_t>(index));
  return IsGain(name) ? GainValue(mixed) : WeightValue(mixed);
}

absl::Status WriteCheckpoint(absl::string_view folder,
                             const CheckpointShape& shape,
                             const CheckpointOptions& options) {
  absl::StatusOr<std::vector<TensorSpec>> tensors =
      CheckpointTensors(shape, options.dtype);
  if (!tensors.ok()) return tensors.status();
  SafetensorsWriterOptions writer_options;
  writer_options.metadata["format"] = "pt";
  absl::StatusOr<SafetensorsWriter> writer = SafetensorsWriter::Create(
      absl::StrCat(folder, "/model.safetensors"), *tensors, writer_options);
  if (!writer.ok()) return writer.status();
  absl::Status status = WriteValues(*tensors, options, *writer);
  if (status.ok()) status = writer->Finish();
  if (!status.ok()) return status;
  return ReplaceFile(absl::StrCat(folder, "/config.json"),
                     CheckpointConfig(shape, options.dtype), ToDisk::kFlush);
}

}  // namespace footprint

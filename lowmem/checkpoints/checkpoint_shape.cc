#include "footprint/lowmem/checkpoints/checkpoint_shape.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/lowmem/checkpoints/decoder_form.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

struct NamedShape {
  const char* name;
  CheckpointShape shape;
};

// Each shape has the fields of CheckpointShape in their order: family,
// vocabulary, positions, hidden, layers, heads, intermediate and token types;
// then, for Llama and later families, key_value_heads, head_features,
// ties_output, window and is_bidirectional.
constexpr NamedShape kNamedShapes[] = {
    {"bert-base", {ModelFamily::kBert, 30522, 512, 768, 12, 12, 3072, 2}},
    {"bert-large", {ModelFamily::kBert, 30522, 512, 1024, 24, 16, 4096, 2}},
    {"bert-large-multilingual",
     {ModelFamily::kBert, 119547, 512, 1024, 24, 16, 4096, 2}},
    {"minilm", {ModelFamily::kBert, 30522, 512, 384, 6, 12, 1536, 2}},
    {"distilbert", {ModelFamily::kDistilBert, 30522, 512, 768, 6, 12, 3072, 0}},
    {"modernbert-base",
     {ModelFamily::kModernBert, 50368, 8192, 768, 22, 12, 1152, 0, 0, 0, false,
      128}},
    {"nomic-embed",
     {ModelFamily::kNomicBert, 30528, 8192, 768, 12, 12, 3072, 2}},
    {"embeddinggemma-300m",
     {ModelFamily::kGemma3, 262144, 2048, 768, 24, 3, 1152, 0, 1, 256, true,
      512, true}},
    {"gpt2", {ModelFamily::kGpt2, 50257, 1024, 768, 12, 12, 3072, 0}},
    {"gpt2-medium", {ModelFamily::kGpt2, 50257, 1024, 1024, 24, 16, 4096, 0}},
    {"gpt2-large", {ModelFamily::kGpt2, 50257, 1024, 1280, 36, 20, 5120, 0}},
    {"gpt2-xl", {ModelFamily::kGpt2, 50257, 1024, 1600, 48, 25, 6400, 0}},
    {"smollm2-135m",
     {ModelFamily::kLlama, 49152, 8192, 576, 30, 9, 1536, 0, 3, 64, true}},
    {"llama-3.2-1b",
     {ModelFamily::kLlama, 128256, 131072, 2048, 16, 32, 8192, 0, 8, 64, true}},
    {"llama-3.2-3b",
     {ModelFamily::kLlama, 128256, 131072, 3072, 28, 24, 8192, 0, 8, 128,
      true}},
    {"mistral-7b",
     {ModelFamily::kMistral, 32000, 32768, 4096, 32, 32, 14336, 0, 8, 128,
      false, 4096}},
    {"qwen2.5-0.5b",
     {ModelFamily::kQwen2, 151936, 32768, 896, 24, 14, 4864, 0, 2, 64, true}},
    {"qwen3-0.6b",
     {ModelFamily::kQwen3, 151936, 40960, 1024, 28, 16, 3072, 0, 8, 128, true}},
    {"gemma-3-1b",
     {ModelFamily::kGemma3, 262144, 32768, 1152, 26, 4, 6912, 0, 1, 256, true,
      512}},
    {"phi-3-mini",
     {ModelFamily::kPhi3, 32064, 4096, 3072, 32, 32, 8192, 0, 32, 96, false,
      2047}},
    {"gemma-2b",
     {ModelFamily::kGemma, 256000, 8192, 2048, 18, 8, 16384, 0, 1, 256, true}},
    {"olmo-2-1b",
     {ModelFamily::kOlmo2, 100352, 4096, 2048, 16, 16, 8192, 0, 16, 128,
      false}},
    {"smollm3-3b",
     {ModelFamily::kSmolLm3, 128256, 65536, 2048, 36, 16, 11008, 0, 4, 128,
      true}},
    {"granite-3.3-2b",
     {ModelFamily::kGranite, 49159, 131072, 2048, 40, 32, 8192, 0, 8, 64,
      true}},
};

absl::Status CheckHeads(const CheckpointShape& shape) {
  if (shape.key_value_heads < 1 || shape.heads % shape.key_value_heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(shape.heads, " heads do not share ", shape.key_value_heads,
                     " heads of keys and values"));
  }
  if (shape.head_features < 2 || shape.head_features % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        shape.head_features, " features of a head are not pairs to rotate"));
  }
  return absl::OkStatus();
}

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
  if (HasDecoderForm(shape.family)) return CheckHeads(shape);
  if (shape.hidden % shape.heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        shape.hidden, " features do not divide among ", shape.heads, " heads"));
  }
  const bool has_types = shape.family == ModelFamily::kBert ||
                         shape.family == ModelFamily::kNomicBert;
  if (has_types && (shape.token_types < 1 || shape.token_types > kMaximum)) {
    return absl::InvalidArgumentError("BERT needs at least one token type");
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
  // Adds weight and bias like PyTorch's Linear: [out, in].
  void AddLinear(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in});
    Add(name + ".bias", {out});
  }
  // Adds weight and bias like GPT-2's Conv1D: [in, out].
  void AddConv1D(const std::string& name, int64_t in, int64_t out) {
    Add(name + ".weight", {in, out});
    Add(name + ".bias", {out});
  }
  // Adds the weight of a Linear, and its bias if `has_bias` is set.
  void AddMatrix(const std::string& name, int64_t out, int64_t in,
                 bool has_bias = false) {
    Add(name + ".weight", {out, in});
    if (has_bias) Add(name + ".bias", {out});
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

void AddModernBert(const CheckpointShape& shape, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  tensors.Add("embeddings.tok_embeddings.weight", {shape.vocabulary, hidden});
  tensors.Add("embeddings.norm.weight", {hidden});
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("layers.", i, ".");
    if (i > 0) tensors.Add(layer + "attn_norm.weight", {hidden});
    tensors.AddMatrix(layer + "attn.Wqkv", 3 * hidden, hidden);
    tensors.AddMatrix(layer + "attn.Wo", hidden, hidden);
    tensors.Add(layer + "mlp_norm.weight", {hidden});
    tensors.AddMatrix(layer + "mlp.Wi", 2 * shape.intermediate, hidden);
    tensors.AddMatrix(layer + "mlp.Wo", hidden, shape.intermediate);
  }
  tensors.Add("final_norm.weight", {hidden});
}

void AddNomicBert(const CheckpointShape& shape, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  tensors.Add("embeddings.word_embeddings.weight", {shape.vocabulary, hidden});
  tensors.Add("embeddings.token_type_embeddings.weight",
              {shape.token_types, hidden});
  tensors.AddNorm("emb_ln", hidden);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("encoder.layers.", i, ".");
    tensors.AddMatrix(layer + "attn.Wqkv", 3 * hidden, hidden);
    tensors.AddMatrix(layer + "attn.out_proj", hidden, hidden);
    tensors.AddMatrix(layer + "mlp.fc11", shape.intermediate, hidden);
    tensors.AddMatrix(layer + "mlp.fc12", shape.intermediate, hidden);
    tensors.AddMatrix(layer + "mlp.fc2", hidden, shape.intermediate);
    tensors.AddNorm(layer + "norm1", hidden);
    tensors.AddNorm(layer + "norm2", hidden);
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

void AddLlamaAttention(const CheckpointShape& shape, const DecoderForm& form,
                       const std::string& begin, Tensors& tensors) {
  const int64_t hidden = shape.hidden;
  const int64_t queries = shape.query_features();
  const int64_t keys = shape.key_value_features();
  const bool has_bias = form.has_attention_bias;
  if (form.has_joined_matrices) {
    tensors.AddMatrix(begin + "qkv_proj", queries + 2 * keys, hidden);
  } else {
    tensors.AddMatrix(begin + "q_proj", queries, hidden, has_bias);
    tensors.AddMatrix(begin + "k_proj", keys, hidden, has_bias);
    tensors.AddMatrix(begin + "v_proj", keys, hidden, has_bias);
  }
  if (form.head_norms != HeadNorms::kNone) {
    const bool are_joined = form.head_norms == HeadNorms::kJoined;
    tensors.Add(begin + "q_norm.weight",
                {are_joined ? queries : shape.head_features});
    tensors.Add(begin + "k_norm.weight",
                {are_joined ? keys : shape.head_features});
  }
  tensors.AddMatrix(begin + "o_proj", hidden, queries);
}

void AddLlama(const CheckpointShape& shape, Tensors& tensors) {
  const DecoderForm& form = FindDecoderForm(shape.family);
  const int64_t hidden = shape.hidden;
  const int64_t inner = shape.intermediate;
  // A model of vectors has no head beside it.
  const std::string model = shape.is_bidirectional ? "" : "model.";
  tensors.Add(model + "embed_tokens.weight", {shape.vocabulary, hidden});
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat(model, "layers.", i, ".");
    if (form.has_norms_before) {
      tensors.Add(layer + "input_layernorm.weight", {hidden});
    }
    AddLlamaAttention(shape, form, layer + "self_attn.", tensors);
    tensors.Add(layer + "post_attention_layernorm.weight", {hidden});
    if (form.has_norms_before && form.has_norms_after) {
      tensors.Add(layer + "pre_feedforward_layernorm.weight", {hidden});
    }
    if (form.has_norms_after) {
      tensors.Add(layer + "post_feedforward_layernorm.weight", {hidden});
    }
    if (form.has_joined_matrices) {
      tensors.AddMatrix(layer + "mlp.gate_up_proj", 2 * inner, hidden);
    } else {
      tensors.AddMatrix(layer + "mlp.gate_proj", inner, hidden);
      tensors.AddMatrix(layer + "mlp.up_proj", inner, hidden);
    }
    tensors.AddMatrix(layer + "mlp.down_proj", hidden, inner);
  }
  tensors.Add(model + "norm.weight", {hidden});
  if (!shape.ties_output) {
    tensors.AddMatrix("lm_head", shape.vocabulary, hidden);
  }
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

nlohmann::ordered_json ModernBertConfig(const CheckpointShape& shape) {
  return {{"architectures", {"ModernBertModel"}},
          {"model_type", "modernbert"},
          {"attention_bias", false},
          {"global_attn_every_n_layers", 3},
          {"global_rope_theta", 160000.0},
          {"hidden_activation", "gelu"},
          {"hidden_size", shape.hidden},
          {"intermediate_size", shape.intermediate},
          {"local_attention", shape.window},
          {"local_rope_theta", 10000.0},
          {"max_position_embeddings", shape.positions},
          {"mlp_bias", false},
          {"norm_bias", false},
          {"norm_eps", 1e-5},
          {"num_attention_heads", shape.heads},
          {"num_hidden_layers", shape.layers},
          {"vocab_size", shape.vocabulary}};
}

nlohmann::ordered_json NomicBertConfig(const CheckpointShape& shape) {
  return {{"architectures", {"NomicBertModel"}},
          {"model_type", "nomic_bert"},
          {"activation_function", "swiglu"},
          {"layer_norm_epsilon", 1e-12},
          {"mlp_fc1_bias", false},
          {"mlp_fc2_bias", false},
          {"n_embd", shape.hidden},
          {"n_head", shape.heads},
          {"n_inner", shape.intermediate},
          {"n_layer", shape.layers},
          {"n_positions", shape.positions},
          {"qkv_proj_bias", false},
          {"rotary_emb_base", 1000},
          {"rotary_emb_fraction", 1.0},
          {"type_vocab_size", shape.token_types},
          {"vocab_size", shape.vocabulary}};
}

// Returns Llama 3.2's scaling for long positions. Returns null for other
// shapes, also for SmolLM2, a Llama with 8192 positions.
nlohmann::ordered_json LlamaScaling(const CheckpointShape& shape) {
  if (shape.family != ModelFamily::kLlama || shape.positions <= 8192) {
    return nullptr;
  }
  return {{"factor", 32.0},
          {"high_freq_factor", 4.0},
          {"low_freq_factor", 1.0},
          {"original_max_position_embeddings", 8192},
          {"rope_type", "llama3"}};
}

// Returns the base of the rotary frequencies in the public models. Llama 3.2
// differs from SmolLM2, which is of the same family, by its positions.
double LlamaTheta(const CheckpointShape& shape) {
  if (shape.family == ModelFamily::kLlama) {
    return shape.positions > 8192 ? 500000.0 : 100000.0;
  }
  return FindDecoderForm(shape.family).public_theta;
}

nlohmann::ordered_json LlamaConfig(const CheckpointShape& shape) {
  const DecoderForm& form = FindDecoderForm(shape.family);
  nlohmann::ordered_json config = {
      {"architectures", {CausalClassName(shape.family)}},
      {"model_type", ModelFamilyName(shape.family)},
      {"head_dim", shape.head_features},
      {"hidden_size", shape.hidden},
      {"intermediate_size", shape.intermediate},
      {"max_position_embeddings", shape.positions},
      {"num_attention_heads", shape.heads},
      {"num_hidden_layers", shape.layers},
      {"num_key_value_heads", shape.key_value_heads},
      {"rms_norm_eps", form.public_epsilon},
      {"rope_scaling", LlamaScaling(shape)},
      {"rope_theta", LlamaTheta(shape)},
      {"tie_word_embeddings", shape.ties_output},
      {"vocab_size", shape.vocabulary}};
  config.update(nlohmann::ordered_json::parse(form.public_keys));
  if (shape.window > 0) config["sliding_window"] = shape.window;
  if (shape.is_bidirectional) {
    config["architectures"] = {"Gemma3TextModel"};
    config["use_bidirectional_attention"] = true;
  }
  return config;
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
    case ModelFamily::kBert:
      AddBert(shape, tensors);
      break;
    case ModelFamily::kDistilBert:
      AddDistilBert(shape, tensors);
      break;
    case ModelFamily::kModernBert:
      AddModernBert(shape, tensors);
      break;
    case ModelFamily::kNomicBert:
      AddNomicBert(shape, tensors);
      break;
    case ModelFamily::kGpt2:
      AddGpt2(shape, tensors);
      break;
    default:
      AddLlama(shape, tensors);
      break;
  }
  return tensors.Take();
}

std::string CheckpointConfig(const CheckpointShape& shape, DType dtype) {
  nlohmann::ordered_json config;
  switch (shape.family) {
    case ModelFamily::kBert:
      config = BertConfig(shape);
      break;
    case ModelFamily::kDistilBert:
      config = DistilBertConfig(shape);
      break;
    case ModelFamily::kModernBert:
      config = ModernBertConfig(shape);
      break;
    case ModelFamily::kNomicBert:
      config = NomicBertConfig(shape);
      break;
    case ModelFamily::kGpt2:
      config = Gpt2Config(shape);
      break;
    default:
      config = LlamaConfig(shape);
      break;
  }
  config["torch_dtype"] = TorchName(dtype);
  return config.dump(2) + "\n";
}

}  // namespace footprint

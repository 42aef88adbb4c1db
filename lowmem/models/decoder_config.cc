#include "footprint/lowmem/models/decoder_config.h"

#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/model_family.h"

namespace footprint {

bool operator==(const DecoderConfig& a, const DecoderConfig& b) {
  const auto all = [](const DecoderConfig& config) {
    return std::tie(config.layers, config.hidden, config.heads,
                    config.intermediate, config.vocabulary, config.positions,
                    config.epsilon, config.activation, config.ties_output);
  };
  return all(a) == all(b);
}

absl::StatusOr<DecoderConfig> ParseDecoderConfig(absl::string_view json,
                                                 absl::string_view name) {
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(json, name);
  if (!reader.ok()) return reader.status();
  const ModelFamily family = FindModelFamily(*reader);
  if (!reader->status().ok()) return reader->status();
  if (family != ModelFamily::kGpt2) {
    reader->Refuse("model_type", ModelFamilyName(family), "\"gpt2\"");
  }
  DecoderConfig config;
  config.layers = reader->Extent("n_layer");
  config.hidden = reader->Extent("n_embd");
  config.heads = reader->Extent("n_head");
  config.intermediate = reader->ExtentOr("n_inner", 4 * config.hidden);
  config.vocabulary = reader->Extent("vocab_size");
  config.positions = reader->Extent("n_positions");
  config.epsilon = reader->EpsilonOr("layer_norm_epsilon", 1e-5);
  config.activation = reader->ActivationOr("activation_function", "gelu_new");
  config.ties_output = reader->FlagOr("tie_word_embeddings", true);
  if (!reader->FlagOr("scale_attn_weights", true)) {
    reader->Refuse("scale_attn_weights", "false", "\"true\"");
  }
  if (reader->FlagOr("scale_attn_by_inverse_layer_idx", false)) {
    reader->Refuse("scale_attn_by_inverse_layer_idx", "true", "\"false\"");
  }
  if (!reader->status().ok()) return reader->status();
  reader->CheckHeads(config.hidden, config.heads);
  if (!reader->status().ok()) return reader->status();
  return config;
}

absl::StatusOr<DecoderConfig> ReadDecoderConfig(absl::string_view path) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  return ParseDecoderConfig(*text, path);
}

}  // namespace footprint

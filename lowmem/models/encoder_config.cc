#include "footprint/lowmem/models/encoder_config.h"

#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/model_family.h"

namespace footprint {
namespace {

void ReadBert(ConfigReader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kBert;
  config.layers = reader.Extent("num_hidden_layers");
  config.hidden = reader.Extent("hidden_size");
  config.heads = reader.Extent("num_attention_heads");
  config.intermediate = reader.Extent("intermediate_size");
  config.positions = reader.Extent("max_position_embeddings");
  config.token_types = reader.ExtentOr("type_vocab_size", 2);
  config.epsilon = reader.EpsilonOr("layer_norm_eps", 1e-12);
  config.activation = reader.ActivationOr("hidden_act", "gelu");
  // In a decoder each token would see only those before it.
  if (reader.FlagOr("is_decoder", false)) {
    reader.Refuse("is_decoder", "true", "\"false\"");
  }
}

// Reads BERT's keys; positions begin after that of the padding.
void ReadRoberta(ConfigReader& reader, EncoderConfig& config) {
  ReadBert(reader, config);
  config.family = EncoderFamily::kRoberta;
  config.padding_id = reader.CountOr("pad_token_id", 1);
  config.first_position = config.padding_id + 1;
  config.positions -= config.first_position;
  if (config.positions < 1) {
    reader.Fail("max_position_embeddings",
                "leaves no position after pad_token_id");
  }
}

// Reads a config with RoBERTa's positions, no token types, and distances in the
// scores.
void ReadMpnet(ConfigReader& reader, EncoderConfig& config) {
  ReadRoberta(reader, config);
  config.family = EncoderFamily::kMpnet;
  config.token_types = 0;
  config.distances = reader.CountOr("relative_attention_num_buckets", 32);
  if (config.distances != 32) {
    reader.Refuse("relative_attention_num_buckets",
                  std::to_string(config.distances), "32");
  }
}

void ReadDistilBert(ConfigReader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kDistilBert;
  config.layers = reader.Extent("n_layers");
  config.hidden = reader.Extent("dim");
  config.heads = reader.Extent("n_heads");
  config.intermediate = reader.Extent("hidden_dim");
  config.positions = reader.Extent("max_position_embeddings");
  config.token_types = 0;
  config.epsilon = 1e-12f;
  config.activation = reader.ActivationOr("activation", "gelu");
}

}  // namespace

bool operator==(const EncoderConfig& a, const EncoderConfig& b) {
  const auto all = [](const EncoderConfig& config) {
    return std::tie(config.family, config.layers, config.hidden, config.heads,
                    config.intermediate, config.vocabulary, config.positions,
                    config.first_position, config.padding_id,
                    config.token_types, config.distances, config.epsilon,
                    config.activation);
  };
  return all(a) == all(b);
}

absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 absl::string_view name) {
  absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(json, name);
  if (!reader.ok()) return reader.status();
  EncoderConfig config;
  const ModelFamily family = FindModelFamily(*reader);
  if (!reader->status().ok()) return reader->status();
  if (family == ModelFamily::kBert) {
    ReadBert(*reader, config);
  } else if (family == ModelFamily::kDistilBert) {
    ReadDistilBert(*reader, config);
  } else if (family == ModelFamily::kMpnet) {
    ReadMpnet(*reader, config);
  } else if (!HasDecoderLayers(family)) {
    ReadRoberta(*reader, config);
  } else {
    reader->Refuse("model_type", ModelFamilyName(family),
                   "the encoders \"bert\", \"distilbert\", \"roberta\", "
                   "\"xlm-roberta\", \"camembert\" and \"mpnet\"; "
                   "lowmem_embed runs \"modernbert\" and \"nomic_bert\", too");
  }
  const std::string position =
      reader->TextOr("position_embedding_type", "absolute");
  if (position != "absolute") {
    reader->Refuse("position_embedding_type", position, "\"absolute\"");
  }
  config.vocabulary = reader->Extent("vocab_size");
  if (!reader->status().ok()) return reader->status();
  reader->CheckHeads(config.hidden, config.heads);
  if (!reader->status().ok()) return reader->status();
  return config;
}

absl::StatusOr<EncoderConfig> ReadEncoderConfig(absl::string_view path) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  return ParseEncoderConfig(*text, path);
}

}  // namespace footprint

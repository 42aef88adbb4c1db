// The shape of a BERT-family encoder, read from a checkpoint's config.json.
//
//   absl::StatusOr<footprint::EncoderConfig> config =
//       footprint::ReadEncoderConfig("bert-large-uncased/config.json");
//
// Families: "bert" (base, large, multilingual, MiniLM), "distilbert", and those
// of RoBERTa and MPNet. They are found as in model_family.h, and have the keys
// of their public checkpoints. Keys that do not change the computation are
// ignored. The values of keys that do are checked.
//
// The error is InvalidArgument if the file is not JSON, if a key is missing or
// impossible, or if heads do not divide the hidden size; the message names the
// file and the key. The error is Unimplemented if the family, the activation or
// the kind of positions is not known, or if "is_decoder" is set. The error is
// NotFound if there is no such file.
//
// Plain data of about 100 bytes; thread-safe. Memory: during the read,
// ConfigReader's.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/simd/activation.h"

namespace footprint {

// kRoberta also stands for XLM-R and CamemBERT.
enum class EncoderFamily { kBert, kDistilBert, kRoberta, kMpnet };

struct EncoderConfig {
  EncoderFamily family = EncoderFamily::kBert;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;  // the most that a text can have
  // The first token's row in the table of positions. RoBERTa's positions begin
  // after the position that all padding tokens share.
  int64_t first_position = 0;
  int64_t padding_id = -1;  // -1: padding has no separate position
  int64_t token_types = 0;  // 0: the family has none
  // The number of buckets for the distance between two tokens. Each bucket adds
  // a bias to a head's scores (MPNet's relative positions); 0: no bias.
  int64_t distances = 0;
  float epsilon = 1e-12f;
  Activation activation = Activation::kGelu;

  int64_t head_features() const { return hidden / heads; }
  int64_t position_rows() const { return first_position + positions; }
};

bool operator==(const EncoderConfig& a, const EncoderConfig& b);

absl::StatusOr<EncoderConfig> ReadEncoderConfig(absl::string_view path);

// Parses a text, which messages call `name`.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_

// The shape of a BERT-family encoder, as a checkpoint's config.json says it.
//
//   absl::StatusOr<footprint::EncoderConfig> config =
//       footprint::ReadEncoderConfig("bert-large-uncased/config.json");
//
// Families: "bert" (base, large, multilingual, MiniLM) and "distilbert", found
// as model_family.h says, with the keys that their public checkpoints have.
// Keys that do not change what is computed are ignored; a value that would is
// checked.
//
// InvalidArgument: not JSON, a key is missing or impossible, heads do not
// divide the hidden size; the text names the file and the key. Unimplemented:
// another family, activation or kind of position. NotFound: no such file.
//
// Plain data of 72 bytes; thread-safe. Memory: while it is read,
// ConfigReader's.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/simd/activation.h"

namespace footprint {

// kRoberta stands for XLM-R and CamemBERT, too.
enum class EncoderFamily { kBert, kDistilBert, kRoberta, kMpnet };

struct EncoderConfig {
  EncoderFamily family = EncoderFamily::kBert;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;  // that a text has
  // The row of the table of positions that the first token has. RoBERTa's begin
  // after that of the padding, which each padding token has.
  int64_t first_position = 0;
  int64_t padding_id = -1;  // -1: padding has no position of its own
  int64_t token_types = 0;  // 0: the family has none
  // The number of buckets into which distances between two tokens fall. Each
  // adds a bias to a head's scores (MPNet's relative positions); 0: there is
  // none.
  int64_t distances = 0;
  float epsilon = 1e-12f;
  Activation activation = Activation::kGelu;

  int64_t head_features() const { return hidden / heads; }
  int64_t position_rows() const { return first_position + positions; }
};

bool operator==(const EncoderConfig& a, const EncoderConfig& b);

absl::StatusOr<EncoderConfig> ReadEncoderConfig(absl::string_view path);

// `name` is for messages.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_CONFIG_H_

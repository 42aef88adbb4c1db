// The shape of a GPT-2-family decoder, read from a checkpoint's config.json.
//
//   absl::StatusOr<footprint::DecoderConfig> config =
//       footprint::ReadDecoderConfig("gpt2-large/config.json");
//
// Keys that do not change the computation are ignored; values that do are
// checked.
//
// Errors are those of ConfigReader and model_family.h, which says how the
// family is found. Unimplemented: another family or activation, or attention
// with a scale other than the square root of a head's features.
//
// Plain data of 64 bytes; thread-safe. Memory: while it is read,
// ConfigReader's.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/simd/activation.h"

namespace footprint {

struct DecoderConfig {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  float epsilon = 1e-5f;
  Activation activation = Activation::kGeluTanh;
  // The table of words is the output matrix, too, if this is set.
  bool ties_output = true;

  int64_t head_features() const { return hidden / heads; }
};

bool operator==(const DecoderConfig& a, const DecoderConfig& b);

absl::StatusOr<DecoderConfig> ReadDecoderConfig(absl::string_view path);

// `name` is for messages.
absl::StatusOr<DecoderConfig> ParseDecoderConfig(absl::string_view json,
                                                 absl::string_view name);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_CONFIG_H_

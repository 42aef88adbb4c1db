// Parses any text as the config.json of an encoder and of a decoder. The
// extents of accepted configs have products that fit.

#include <cstdint>
#include <initializer_list>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/encoder_config.h"

namespace footprint {
namespace {

void RequireExtents(std::initializer_list<int64_t> extents) {
  for (const int64_t extent : extents) {
    Require(extent >= 1 && extent <= int64_t{1} << 32, "an extent is sensible");
  }
}

void RequireHeads(int64_t hidden, int64_t heads, float epsilon) {
  Require(heads >= 1 && hidden % heads == 0, "heads share the features");
  Require(epsilon > 0, "no division by zero");
}

void ParseAnyConfig(absl::string_view json) {
  const absl::StatusOr<EncoderConfig> encoder =
      ParseEncoderConfig(json, "config.json");
  if (encoder.ok()) {
    RequireExtents({encoder->layers, encoder->hidden, encoder->intermediate,
                    encoder->vocabulary, encoder->positions});
    RequireHeads(encoder->hidden, encoder->heads, encoder->epsilon);
    Require(encoder->token_types >= 0, "token types are not negative");
  } else {
    RequireRefusal(encoder.status());
  }
  const absl::StatusOr<DecoderConfig> decoder =
      ParseDecoderConfig(json, "config.json");
  if (!decoder.ok()) return RequireRefusal(decoder.status());
  Require(!encoder.ok(), "a model is of one family");
  RequireExtents({decoder->layers, decoder->hidden, decoder->intermediate,
                  decoder->vocabulary, decoder->positions});
  RequireExtents(
      {decoder->heads, decoder->key_value_heads(), decoder->head_features()});
  RequireHeads(decoder->heads, decoder->key_value_heads(), decoder->epsilon);
  Require(decoder->score_scale() > 0, "scores count");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyConfig)

}  // namespace footprint

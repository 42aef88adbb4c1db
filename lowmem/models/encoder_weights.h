// The places of an encoder's weights in its checkpoint.
//
//   absl::StatusOr<footprint::EncoderWeights> weights =
//       footprint::FindEncoderWeights(*store, config);
//
// Names are those of public checkpoints of the family, with or without the
// family's prefix ("bert.encoder.layer.0..."), and with the older names of
// layer norm's vectors (gamma, beta). Every shape is compared with the config,
// and a layer beyond the config's last is an error.
//
// Plain data, thread-compatible. Refers to the store's index. Memory: about 2
// KiB a layer. Errors are those of WeightBinder.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_WEIGHTS_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_WEIGHTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct EncoderLayerWeights {
  LinearWeights query;
  LinearWeights key;
  LinearWeights value;
  LinearWeights attention_output;
  NormTensors attention_norm;
  LinearWeights expand;
  LinearWeights contract;
  NormTensors output_norm;

  std::array<const LinearWeights*, 6> linears() const {
    return {&query, &key, &value, &attention_output, &expand, &contract};
  }
  std::array<const NormTensors*, 2> norms() const {
    return {&attention_norm, &output_norm};
  }
};

struct EncoderWeights {
  Weight words;
  Weight positions;
  bool has_token_types = false;
  Weight token_types;  // exists if has_token_types
  NormTensors norm;
  Weight distances;  // [kinds of distance, heads]; exists for MPNet
  std::vector<EncoderLayerWeights> layers;
};

// Returns every tensor that each pass reads as a whole, once.
std::vector<Weight> ListWholeTensors(const EncoderWeights& weights);

// Returns every tensor once, those of ListWholeTensors first. In this order
// they are kept in memory if there is room.
std::vector<Weight> TensorsToPin(const EncoderWeights& weights);

// Returns the matrices that a pass multiplies. Tables are left out, because a
// pass only looks up their rows.
std::vector<Weight> MultipliedMatrices(const EncoderWeights& weights);

// Returns the stored bytes of the tensors that each pass reads as a whole.
// Tables of words, positions and types, of which a pass reads rows, do not
// count.
int64_t ComputePassBytes(const EncoderWeights& weights);

absl::StatusOr<EncoderWeights> FindEncoderWeights(const WeightStore& store,
                                                  const EncoderConfig& config);

}  // namespace footprint

// Tested by encoder_test and encoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_WEIGHTS_H_

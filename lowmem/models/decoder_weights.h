// The places of a GPT-2-family decoder's weights in its checkpoint.
//
//   absl::StatusOr<footprint::DecoderWeights> weights =
//       footprint::FindDecoderWeights(*store, config);
//
// Names are those of public checkpoints, with or without the prefix
// "transformer.". Where the config ties the output to the words, as public ones
// do, one matrix is both: wte.weight, or lm_head.weight where the file has no
// other. Else lm_head.weight is the output's matrix. UnusedTensors names what
// the file has besides, as a head that the config does not use.
//
// Plain data, thread-compatible. Refers to the store's index. Memory: about 2
// KiB a layer. Errors are those of WeightBinder.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// Matrices lie transposed: [inputs, outputs].
struct DecoderLayerWeights {
  NormTensors attention_norm;
  LinearWeights attention;  // queries, keys and values, one after the other
  LinearWeights attention_output;
  NormTensors feed_norm;
  LinearWeights expand;
  LinearWeights contract;

  std::array<const LinearWeights*, 4> linears() const {
    return {&attention, &attention_output, &expand, &contract};
  }
  std::array<const NormTensors*, 2> norms() const {
    return {&attention_norm, &feed_norm};
  }
};

struct DecoderWeights {
  Weight words;
  Weight positions;
  std::vector<DecoderLayerWeights> layers;
  NormTensors norm;
  Weight output;  // [vocabulary, hidden]
};

// Every tensor once, those that a run reads as a whole first: in this order
// they stay in memory where there is room.
std::vector<Weight> TensorsToPin(const DecoderWeights& weights);

absl::StatusOr<DecoderWeights> FindDecoderWeights(const WeightStore& store,
                                                  const DecoderConfig& config);

}  // namespace footprint

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

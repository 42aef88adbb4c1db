// The places of a decoder's weights in its checkpoint.
//
//   absl::StatusOr<footprint::DecoderWeights> weights =
//       footprint::FindDecoderWeights(*store, config);
//
// Names are those of public checkpoints, with or without the family's prefix
// ("transformer." of GPT-2, "model." of the others), or those of GGUF files.
// Where the config ties the output to the words, one matrix is both: the table
// of words, or lm_head.weight where the file has no other. Else lm_head.weight
// is the output's matrix. UnusedTensors names what the file has besides, as a
// head that the config does not use.
//
// Plain data, thread-compatible. Refers to the store's index. Memory: about 4
// KiB a layer. Errors are those of WeightBinder.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The weights of one layer. What the config does not have is no weight: see
// Weight::exists. Parts of one matrix each name the whole of it.
struct DecoderLayerWeights {
  NormTensors attention_norm;
  LinearPart query;
  LinearPart key;
  LinearPart value;
  Weight query_gain;  // of each head
  Weight key_gain;
  LinearWeights attention_output;
  NormTensors after_attention_norm;
  NormTensors feed_norm;
  LinearPart gate;
  LinearPart expand;
  LinearWeights contract;
  NormTensors after_feed_norm;

  // Return each matrix, and each norm, that there is, once.
  std::vector<const LinearWeights*> linears() const;
  std::vector<const NormTensors*> norms() const;
};

struct DecoderWeights {
  Weight words;
  Weight positions;  // none where positions are rotations
  std::vector<DecoderLayerWeights> layers;
  NormTensors norm;
  Weight output;  // [vocabulary, hidden]; none for states
};

// Returns every tensor that each pass reads as a whole, once.
std::vector<Weight> ListWholeTensors(const DecoderWeights& weights);

// Returns every tensor once, those of ListWholeTensors first: in this order
// they stay in memory where there is room.
std::vector<Weight> TensorsToPin(const DecoderWeights& weights);

// Returns the matrices that a pass multiplies. Of tables it looks up rows.
std::vector<Weight> MultipliedMatrices(const DecoderWeights& weights);

// Returns the stored bytes of the tensors that each pass reads as a whole.
// Tables of words and positions, of which a pass reads rows, are not among them
// unless one is the output's matrix, too.
int64_t ComputePassBytes(const DecoderWeights& weights);

// The use that a decoder is opened for: the likelihood of the next word, or the
// states of the tokens, for which no output's matrix is looked for.
enum class DecoderUse { kLogits, kStates };

absl::StatusOr<DecoderWeights> FindDecoderWeights(
    const WeightStore& store, const DecoderConfig& config,
    DecoderUse use = DecoderUse::kLogits);

}  // namespace footprint

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

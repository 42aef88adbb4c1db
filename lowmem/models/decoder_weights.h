// The places of a decoder's weights in its checkpoint.
//
//   absl::StatusOr<footprint::DecoderWeights> weights =
//       footprint::FindDecoderWeights(*store, config);
//
// Names are those of public checkpoints, with or without the family's prefix
// ("transformer." of GPT-2, "bert." of NomicBert, "model." of the others), or
// those of GGUF files. If the config ties the output to the words, one matrix
// is both: the table of words, or lm_head.weight if the file has no such table.
// Otherwise lm_head.weight is the output matrix. UnusedTensors names the other
// tensors of the file, such as a head that the config does not use.
//
// Plain data, thread-compatible. Refers to the store's index. Memory: 1.7 KiB a
// layer, up to twice that with the spare room of the vector. Errors are those
// of WeightBinder.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The weights of one layer. A weight that the config does not have does not
// exist (Weight::exists). Parts of one matrix each name the whole matrix.
//
// attention_norm and feed_norm come before the part for which they are named,
// and the norms with "after" in their names after it. If norms replace the
// states (ReplacingNorms), attention_norm of the first layer is the norm of the
// embeddings. If all norms do, the checkpoint stores attention_norm of each
// later layer as the last norm of the layer before it.
struct DecoderLayerWeights {
  NormTensors attention_norm;
  LinearPart query;
  LinearPart key;
  LinearPart value;
  Weight query_gain;  // of each head, or of all
  Weight key_gain;
  LinearWeights attention_output;
  NormTensors after_attention_norm;
  NormTensors feed_norm;
  LinearPart gate;
  LinearPart expand;
  LinearWeights contract;
  NormTensors after_feed_norm;

  // These return each matrix and each norm that exists, once.
  std::vector<const LinearWeights*> linears() const;
  std::vector<const NormTensors*> norms() const;
};

struct DecoderWeights {
  Weight words;
  Weight positions;    // absent if positions are rotations
  Weight token_types;  // absent if the family has none
  std::vector<DecoderLayerWeights> layers;
  NormTensors norm;
  Weight output;  // [vocabulary, hidden]; absent for kStates
};

// Returns every tensor that each pass reads as a whole, once.
std::vector<Weight> ListWholeTensors(const DecoderWeights& weights);

// Returns every tensor once, those of ListWholeTensors first. In this order
// they are kept in memory if there is room.
std::vector<Weight> TensorsToPin(const DecoderWeights& weights);

// Returns the matrices that a pass multiplies. Tables are left out, because a
// pass only looks up their rows.
std::vector<Weight> MultipliedMatrices(const DecoderWeights& weights);

// Returns the stored bytes of the tensors that each pass reads as a whole.
// Tables of words and positions, of which a pass reads rows, do not count,
// unless the table of words is also the output matrix.
int64_t ComputePassBytes(const DecoderWeights& weights);

// The use that a decoder is opened for: the likelihood of the next word, or the
// states of the tokens, which need no output matrix.
enum class DecoderUse { kLogits, kStates };

absl::StatusOr<DecoderWeights> FindDecoderWeights(
    const WeightStore& store, const DecoderConfig& config,
    DecoderUse use = DecoderUse::kLogits);

}  // namespace footprint

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_WEIGHTS_H_

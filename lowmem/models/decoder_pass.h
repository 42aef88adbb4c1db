// Some tokens' way through a decoder, in a plan's arena: embeddings, layers,
// and after the last the output, each step by a team of workers.
//
//   DecoderPass pass(config, weights, plan, arena, store);
//   absl::Status status = pass.OpenStreams();
//   status = pass.Read(part);  // its keys and values stay in the arena
//
// Everything it is given must outlive it; so must a part's ids each Read. Used
// by one thread at a time. Memory: the arena's; besides, when it is made, some
// bytes a worker and a layer. Read allocates nothing unless it fails. Errors
// are the store's. DataLoss: states or logits that are NaN or infinite; the
// text names the first layer that gives them.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_tiles.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/layer_pass.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

// Tokens that are read together.
struct DecoderPart {
  absl::Span<const int32_t> ids;
  int64_t position = 0;  // of the first
  bool is_last = false;  // of an Append

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  bool single() const { return ids.size() == 1; }
};

class DecoderPass : public LayerPass {
 public:
  DecoderPass(const DecoderConfig& config, const DecoderWeights& weights,
              const DecoderPlan& plan, const MappedBlock& arena,
              WeightStore* store);

  // Begins to read ahead, if the backend does; before the first Read.
  absl::Status OpenStreams();

  // The tokens' keys and values, and of a last part the logits. More than one
  // token begins at a multiple of a panel's.
  absl::Status Read(const DecoderPart& part);

  // Returns the logits of the last part that was the last of an Append.
  absl::Span<const float> logits() const {
    return absl::MakeConstSpan(logits_, config_.vocabulary);
  }

 private:
  // The small vectors that are in memory during one layer, or the output.
  struct LayerVectors {
    float* attention_gain;
    float* attention_bias;
    float* attention;
    float* attention_output;
    float* feed_gain;
    float* feed_bias;
    float* expand;
    float* contract;
  };

  // Memory that one worker has for itself.
  struct WorkerScratch {
    float* scores;
    DecoderTiles tiles;  // where they begin in its stream
  };

  void AddScratch(int worker);
  void SetVectors();
  absl::Status SkipToLayers(int worker);

  void Work(int worker);
  void RunLayer(int64_t layer, int worker);
  absl::Status ReadLayerVectors(int64_t layer, int worker);
  absl::Status Embed(int worker);
  absl::Status EmbedToken(int64_t token, float* scratch, float* lane);
  // Normalises the states that `step` left: the embeddings (0) or a layer (its
  // number and one).
  absl::Status NormaliseAfter(int64_t step, const NormWeights& norm,
                              int worker);
  absl::Status Attend(int64_t layer, int worker);
  absl::Status ProjectHeads(int64_t layer, const IndexRange& features,
                            int worker);
  void AttendHead(int64_t layer, int64_t head,
                  const WorkerScratch& worker_scratch);
  void RunOutput(int worker);
  absl::Status MultiplyOutput(int worker);

  NormWeights AttentionNorm() const {
    return {vectors_.attention_gain, vectors_.attention_bias, config_.epsilon};
  }
  NormWeights FeedNorm() const {
    return {vectors_.feed_gain, vectors_.feed_bias, config_.epsilon};
  }
  // [feature][position]
  float* Keys(int64_t layer) const {
    return cache_ + layer * 2 * config_.hidden * cache_stride_;
  }
  float* Values(int64_t layer) const {
    return Keys(layer) + config_.hidden * cache_stride_;
  }

  const DecoderConfig& config_;
  const DecoderWeights& weights_;
  const DecoderPlan& plan_;

  float* const cache_;
  const int64_t cache_stride_;
  float* const normed_;
  float* const work_;
  float* const logits_;
  LayerVectors vectors_;
  std::vector<WorkerScratch> worker_scratch_;
  DecoderPart part_;  // that is being read
};

}  // namespace footprint::lowmem_internal

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_

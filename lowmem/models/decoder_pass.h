// Takes some tokens through a decoder in a plan's arena: embeddings, layers
// and, after the last part, the output. A team of workers does each step. Parts
// of several sequences share the reading of the weights.
//
//   DecoderPass pass(config, weights, plan, arena, store);
//   absl::Status status = pass.OpenStreams();
//   status = pass.Read({&part, 1});  // keys and values stay in the arena
//
// The arguments must outlive the pass, and the parts and their ids must outlive
// Read and has_read_output. A pass is used by one thread at a time. Memory: the
// arena's, and some bytes for each worker and layer, which the constructor
// allocates. Read allocates nothing unless it fails. Errors are the store's.
// The error is DataLoss if states or logits are NaN or infinite; the message
// names the first such layer.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/kernels/head_kernels.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_tiles.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/exponential_sum.h"
#include "footprint/lowmem/models/layer_pass.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

// Tokens of one sequence that are read together.
struct DecoderPart {
  int64_t sequence = 0;
  // The place of the first token in the panels of all parts. A part of several
  // tokens begins a panel. Parts of single tokens lie side by side, from a
  // panel's beginning on, behind the others.
  int64_t first_slot = 0;
  // Tokens that were read before and are read again, so that the part begins at
  // a panel of the cache.
  absl::Span<const int32_t> again;
  absl::Span<const int32_t> ids;
  int64_t position = 0;  // of the first token, `again` included
  bool is_last = false;  // the last part of an Append
  // The caller needs the last token's state instead of its logits, or, of a
  // bidirectional model, the states of all tokens.
  bool wants_state = false;
  // The part is one token, which is multiplied as a vector.
  bool is_single = false;
  // If not empty, the pass computes scores in place of logits: the logarithm of
  // the probability of next[i] after ids[i] and all tokens before it.
  absl::Span<const int32_t> next;
  double* scores = nullptr;

  int64_t tokens() const {
    return static_cast<int64_t>(again.size() + ids.size());
  }
  int64_t end_slot() const { return first_slot + tokens(); }
  // Returns the position of the token in a slot; for padding, the position that
  // a token would have there.
  int64_t position_of(int64_t slot) const {
    return position + slot - first_slot;
  }
  int32_t id(int64_t token) const {
    const auto before = static_cast<int64_t>(again.size());
    return token < before ? again[token] : ids[token - before];
  }
};

class DecoderPass : public LayerPass {
 public:
  DecoderPass(const DecoderConfig& config, const DecoderWeights& weights,
              const DecoderPlan& plan, const MappedBlock& arena,
              WeightStore* store);

  // Starts reading ahead if the backend supports it. Must be called before the
  // first Read.
  absl::Status OpenStreams();

  // Computes the tokens' keys and values, and for a last part the logits. A
  // part of several tokens must begin at a multiple of a panel. The parts'
  // slots ascend, and their sequences differ. There is at least one part, and
  // only one without room for several sequences, or with scores or states.
  absl::Status Read(absl::Span<const DecoderPart> parts);

  // Returns whether the last Read also computed the output: logits, scores or
  // states. The parts of that Read must still exist.
  bool has_read_output() const {
    return !last_tokens_.empty() || !part().next.empty();
  }

  // Returns the state of the last token after the last norm, for a last part
  // with `wants_state`, or the states of all tokens if the model is
  // bidirectional. The next Read overwrites it.
  absl::Span<const float> state() const {
    return absl::MakeConstSpan(
        work_, config_.hidden * (config_.is_bidirectional ? tokens() : 1));
  }

  // Returns the logits of the sequence's last part with `is_last`.
  absl::Span<const float> logits(int64_t sequence) const {
    return absl::MakeConstSpan(logits_ + sequence * config_.vocabulary,
                               config_.vocabulary);
  }

 private:
  // The gain and bias of a norm; null if the model does not have them.
  struct NormVectors {
    float* gain = nullptr;
    float* bias = nullptr;
  };

  // The small vectors that are in memory during one layer, or the output; null
  // if the model does not have them.
  struct LayerVectors {
    NormVectors attention_norm;
    NormVectors after_attention_norm;
    NormVectors feed_norm;
    NormVectors after_feed_norm;
    float* query_gain = nullptr;
    float* key_gain = nullptr;
    float* attention = nullptr;  // biases of queries, keys and values
    float* attention_output = nullptr;
    float* gate = nullptr;
    float* expand = nullptr;
    float* contract = nullptr;
  };

  // The vectors of a layer and their destinations: at most one for each of
  // LayerVectors, and two more.
  class LoadList;

  // The memory of one worker.
  struct WorkerScratch {
    float* scores;
    float* widened;
    float* lone;
    DecoderTiles tiles;  // where the parts of its list begin
  };

  void AddScratch(int worker);
  void SetVectors();
  absl::Status SkipToLayers(int worker);

  void Work(int worker);
  void RunLayer(int64_t layer, int worker);
  absl::Status ReadLayerVectors(int64_t layer, int worker);
  absl::Status Embed(int worker);
  absl::Status EmbedToken(int32_t id, int64_t position, float* scratch,
                          float* lane);
  // Computes the cosines and sines of the panel's tokens.
  void SetAngles(int64_t panel);
  RotaryAngles AnglesOf(int64_t panel, int64_t layer) const;
  // Checks the states after `step`: 0 is the embeddings, n is layer n - 1.
  // Normalises them if the norm exists.
  absl::Status NormaliseAfter(int64_t step, const NormVectors& norm,
                              bool replaces, int worker);
  // Returns whether the norm before a layer's attention replaces the states.
  bool ReplacesAt(int64_t layer) const {
    return config_.replacing_norms == ReplacingNorms::kAll ||
           (config_.replacing_norms == ReplacingNorms::kFirst && layer == 0);
  }
  void Normalise(const float* input, const NormVectors& norm, int64_t panels,
                 float* output) const;
  // Normalises the output of a part of the layer and adds it to the states.
  void AddBranch(const NormVectors& norm, int worker);
  void RunAttention(int64_t layer, int worker);
  void RunAttentionOutput(const DecoderLayerWeights& weights, int worker);
  void RunFeed(const DecoderLayerWeights& weights, int worker);
  void Attend(int64_t layer, const IndexRange& heads, int worker);
  absl::Status ProjectHeads(int64_t layer, const IndexRange& heads, int worker);
  // Normalises queries and keys, those of all heads together.
  void NormaliseAllHeads(int64_t layer, int worker);
  // Rotates the heads' queries and keys, after it normalises each head if the
  // model does so.
  void PlaceHeads(int64_t layer, const IndexRange& heads);
  void PlaceHead(const float* gain, const RotaryAngles& angles,
                 const HeadView& head) const;
  // Moves the heads' keys and values of the tokens that are read to the cache.
  void KeepHeads(int64_t layer, const IndexRange& heads);
  // The positions of keys that a panel multiplies, and which of them each token
  // of the panel sees.
  struct PanelKeys {
    IndexRange range;
    SeenKeys seen;
  };
  PanelKeys KeysOf(const DecoderPart& part, int64_t slot, int64_t layer) const;
  void AttendHead(int64_t layer, int64_t head, const WorkerScratch& scratch);
  // Replaces the queries of the panel that begins at `slot` by their context.
  void AttendPanel(int64_t layer, int64_t head, int64_t slot,
                   const WorkerScratch& scratch, float* place);
  // These functions multiply one panel of queries by the keys at the positions
  // `keys`, and the softmax of these products by the values there.
  void MultiplyKeys(const CacheHead& head, const IndexRange& keys,
                    const float* queries, const WorkerScratch& scratch) const;
  void MultiplyValues(const CacheHead& head, const IndexRange& keys,
                      const WorkerScratch& scratch, float* context) const;
  void RunOutput(int worker);
  absl::Status MultiplyOutput(int worker);
  // Adds up the exponentials of the worker's logits of all tokens.
  absl::Status SumOutput(int worker);
  absl::Status AddLogits(const IndexRange& rows, const float* logits,
                         int64_t panel_stride, int worker);
  void FinishScores();
  // The sums of exponentials, one for each token. They share the memory of
  // attention's scores, which is large enough.
  ExponentialSum* SumsOf(int worker) const {
    return reinterpret_cast<ExponentialSum*>(worker_scratch_[worker].scores);
  }
  // Copies the last token's state, or the worker's share of all tokens'.
  // Returns DataLoss if a number is not finite.
  absl::Status CopyStates(int worker);

  int64_t QueryStride() const {
    return config_.query_features() * kPanelTokens;
  }
  // Returns the only part, if there is one.
  const DecoderPart& part() const { return parts_[0]; }
  bool is_alone() const { return parts_.size() == 1 && part().is_single; }
  // Returns the part with the token in a slot; for padding, the part before it.
  const DecoderPart& PartOf(int64_t slot) const;
  // Returns the number of tokens in a panel.
  int64_t TokensIn(int64_t panel) const;

  bool IsRounded() const { return plan_.request.cache_type != CacheType::kF32; }
  // Returns whether new keys and values do not lie in the cache at once.
  bool HasFresh() const { return plan_.fresh.size_bytes > 0; }
  // Returns the head's keys (0) or values (1).
  CacheHead HeadOf(int64_t sequence, int64_t layer, int64_t part,
                   int64_t head) const;
  // Returns the keys (0) or values (1) of the tokens that are being read, as
  // floats: [feature][token], with features fresh_stride() apart.
  float* Fresh(int64_t layer, int64_t part) const;
  int64_t fresh_stride() const {
    return HasFresh() ? plan_.chunk_tokens : plan_.padded_positions();
  }

  const DecoderConfig& config_;
  const DecoderWeights& weights_;
  const DecoderPlan& plan_;

  char* const cache_;
  float* const fresh_;
  float* const normed_;
  // The inputs of attention and of the feed-forward part.
  const float* const part_input_;
  float* const work_;
  float* const logits_;
  float* const branch_;
  float* const angles_;
  // The factor of the rows of the table of words.
  const float word_scale_;
  LayerVectors vectors_;
  std::vector<WorkerScratch> worker_scratch_;
  absl::Span<const DecoderPart> parts_;  // that are being read
  // The last tokens of parts with `is_last`, whose outputs are logits.
  std::vector<StreamedProduct::SingleToken> last_tokens_;
};

}  // namespace footprint::lowmem_internal

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_PASS_H_

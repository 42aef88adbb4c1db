// One sequence's way through an encoder, in a plan's arena: embeddings, layers,
// output, each step by a team of workers.
//
//   EncoderPass pass(config, weights, plan, arena, store);
//   absl::Status status = pass.OpenStreams();
//   status = pass.Compute(ids, token_types, states);
//
// Everything it is given must outlive it; so must the ids each Compute. Used by
// one thread at a time. Memory: the arena's; besides, when it is made, some
// bytes a worker and a layer. Compute allocates nothing unless it fails. Errors
// are the store's. DataLoss: states that are NaN or infinite; the text names
// the first layer that gives them.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_PASS_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_PASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/models/layer_pass.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

class EncoderPass : public LayerPass {
 public:
  EncoderPass(const EncoderConfig& config, const EncoderWeights& weights,
              const EncoderPlan& plan, const MappedBlock& arena,
              WeightStore* store);

  // Begins to read ahead, if the backend does; before the first Compute.
  absl::Status OpenStreams();

  // Writes tokens * hidden numbers. `token_types` has one for each token, or is
  // empty for all zero; both were checked.
  absl::Status Compute(absl::Span<const int32_t> ids,
                       absl::Span<const int32_t> token_types, float* states);

 private:
  // The small vectors that are in memory during one layer, or the embeddings.
  struct LayerVectors {
    float* query;
    float* key;
    float* value;
    float* attention_output;
    NormWeights attention_norm;
    float* expand;
    float* contract;
    NormWeights output_norm;
    float* distances;  // of all layers: by kind of distance, then by head
  };

  // Rows of the tables that a worker adds up.
  struct EmbeddingRows {
    float* word;
    float* type;
    float* positions;
    int64_t type_in_memory = -1;
  };

  // Memory that one worker has for itself.
  struct WorkerScratch {
    float* key;
    float* value;
    float* scores;
  };

  void AddScratch(int worker);
  void SetVectors();

  void Work(int worker);
  void RunLayer(int64_t layer, int worker);
  absl::Status ReadNormVectors(int worker);
  absl::Status ReadLayerVectors(int64_t layer, int worker);
  absl::Status Embed(int worker);
  // Their sums of rows go to the panel's lanes from `lanes` on.
  // The rows of the tokens' positions.
  absl::Status ReadPositions(const IndexRange& tokens, float* rows);
  absl::Status EmbedTokens(const IndexRange& tokens, float* lanes,
                           EmbeddingRows* rows);
  absl::Status Attend(const EncoderLayerWeights& layer, int worker);
  absl::Status ProjectHead(const EncoderLayerWeights& layer, int64_t head,
                           int worker);
  void AttendHead(int64_t head, const WorkerScratch& worker_scratch);
  void AddDistances(int64_t head, int64_t panel, float* scores) const;
  void Normalise(const float* addend, const NormWeights& norm, int worker);
  void WriteOutput(int worker);

  const EncoderConfig& config_;
  const EncoderWeights& weights_;
  const EncoderPlan& plan_;

  float* const sums_;
  float* const chunk_;  // shares its place with the workers' buffers
  LayerVectors vectors_;
  std::vector<WorkerScratch> worker_scratch_;

  // The sequence that is being computed.
  absl::Span<const int32_t> ids_;
  absl::Span<const int32_t> token_types_;
  float* states_ = nullptr;  // where its output goes
};

}  // namespace footprint::lowmem_internal

// Tested by encoder_test and encoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_PASS_H_

// Takes one sequence through an encoder in a plan's arena: embeddings, layers,
// output. A team of workers does each step.
//
//   EncoderPass pass(config, weights, plan, arena, store);
//   absl::Status status = pass.OpenStreams();
//   status = pass.Compute(ids, token_types, states);
//
// The arguments must outlive the pass, and the ids must outlive Compute. A pass
// is used by one thread at a time. Memory: the arena's, and some bytes for each
// worker and layer, which the constructor allocates. Compute allocates nothing
// unless it fails. Errors are the store's and those of StreamedProduct. The
// error is DataLoss if states are NaN or infinite; the message names the first
// such layer.

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

  // Starts reading ahead if the backend supports it. Must be called before the
  // first Compute.
  absl::Status OpenStreams();

  // Writes tokens * hidden numbers. `token_types` has one for each token, or is
  // empty if all are zero; the caller has checked both.
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
    float* distances;  // of all layers: by bucket, then by head
  };

  // The rows of the tables that a worker adds.
  struct EmbeddingRows {
    float* word;
    float* type;
    float* positions;
    int64_t type_in_memory = -1;
  };

  // The memory of one worker.
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
  // Reads the rows of the tokens' positions.
  absl::Status ReadPositions(const IndexRange& tokens, float* rows);
  // Adds the tokens' rows into the panel's lanes from `lanes` on.
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
  float* const chunk_;  // shares memory with the workers' buffers
  LayerVectors vectors_;
  std::vector<WorkerScratch> worker_scratch_;

  // The current sequence.
  absl::Span<const int32_t> ids_;
  absl::Span<const int32_t> token_types_;
  float* states_ = nullptr;  // its output
};

}  // namespace footprint::lowmem_internal

// Tested by encoder_test and encoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_PASS_H_

// The common part of both families' passes: a team of workers that share the
// products of a layer, the streams of tiles that they read ahead, and the check
// of the states that a layer leaves.
//
//   class EncoderPass : public LayerPass { ... };
//   MultiplyShare({layer.expand.matrix, chunk, {0, shape().hidden}, input,
//                  output, epilogue}, worker);
//
// The constructor's arguments must outlive the pass. It is used by one thread
// at a time, which runs the team. Memory: the arena, and some bytes for each
// worker and step. Errors are the store's and those of StreamedProduct. The
// error is DataLoss if states are NaN or infinite.

#ifndef FOOTPRINT_LOWMEM_MODELS_LAYER_PASS_H_
#define FOOTPRINT_LOWMEM_MODELS_LAYER_PASS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/base/simd/activation.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

class LayerPass {
 public:
  // Returns the number of workers, which is below the plan's if the system
  // refuses to start threads.
  int workers() const { return team_.size(); }

  // These return the time of each step of the pass, summed since the last
  // Clear.
  StepTimes& step_times() { return step_times_; }
  const StepTimes& step_times() const { return step_times_; }
  std::string ReadingDescription() const {
    return streams_.empty() ? "when used" : streams_[0]->Description();
  }

 protected:
  // A product whose outputs the workers share. Input and output are panels of
  // as many features as the ranges have.
  struct SharedProduct {
    const Weight& matrix;
    IndexRange outputs;
    IndexRange inputs;
    const float* input;
    float* output;
    ProductEpilogue epilogue;  // the bias is that of the first output
  };

  // A feed-forward part, whose intermediate features are held a chunk at a
  // time: contract(activation(expand(input))), or with a gate
  // contract(activation(gate(input)) * expand(input)). A bias is null if there
  // is none.
  struct FeedForward {
    MatrixPart gate;
    MatrixPart expand;
    const Weight* contract = nullptr;
    const float* gate_bias = nullptr;
    const float* expand_bias = nullptr;
    const float* contract_bias = nullptr;
    Activation activation = Activation::kNone;
    const float* input = nullptr;
    float* chunk = nullptr;
    float* gated_chunk = nullptr;  // as large; used with a gate only
    float* output = nullptr;
    bool adds_to_output = false;
  };

  // The product of the context of all heads with the matrix of attention's
  // output.
  struct ContextProduct {
    const Weight& matrix;
    const float* bias;  // may be null
    const float* context;
    float* output;
    bool adds_to_output;
  };

  // At most `single_tokens` are multiplied as vectors at a time.
  LayerPass(const LayerShape& shape, const ModelPlan& plan,
            const MappedBlock& arena, WeightStore* store, int64_t steps,
            int64_t single_tokens = 1);

  // Adds the product of the next worker, with its part of the plan's memory.
  void AddProduct(const ProductMemory& memory) {
    products_.emplace_back(store_, memory);
  }
  StreamedProduct& product(int worker) { return products_[worker]; }

  // Begins to read ahead the tiles that `record` lists, if the plan has a ring
  // for them. A ring begins `reserved_bytes` after the beginning of a worker's
  // slots.
  absl::Status OpenRings(
      int64_t reserved_bytes,
      absl::FunctionRef<absl::Status(int worker, TileList* list)> record);

  // Sets the number of tokens of all following calls, and how many of the last
  // ones, from a panel's beginning on, products take as vectors.
  void SetTokens(int64_t tokens, int64_t single_tokens);
  int64_t tokens() const { return tokens_; }
  int64_t panels() const { return panels_; }
  // Returns the number of panels before the tokens that are taken as vectors.
  int64_t joint_panels() const { return joint_panels_; }

  // Sets the input of the worker's products.
  void UseInput(const float* panels, int64_t features, int worker);
  absl::Status MultiplyShare(const SharedProduct& product, int worker);
  // Does the same as MultiplyShare if the product before it had the same input.
  absl::Status MultiplyShareOfSameInput(const SharedProduct& product,
                                        int worker);
  // Multiplies the worker's own `outputs` of the matrix, in any storage order.
  absl::Status MultiplyOwn(const Weight& matrix, const IndexRange& outputs,
                           const IndexRange& inputs, const PanelView& input,
                           const ProductEpilogue& epilogue,
                           const PanelOutput& output, int worker);
  // Multiplies attention's context by its output's matrix.
  absl::Status MultiplyContext(const ContextProduct& product, int worker);
  // Runs the part; called in a job of the team.
  void RunFeedForward(const FeedForward& part, int worker);

  // Returns DataLoss if the worker's share of the states is not finite after
  // `step`: 0 is the embeddings, n is layer n - 1.
  absl::Status CheckStates(int64_t step, int worker) const;
  // Does the same for some tokens, the first of which begins a panel.
  absl::Status CheckTokens(int64_t step, int64_t panel, int64_t tokens) const;

  const LayerShape& shape() const { return shape_; }
  int64_t HiddenStride() const { return shape_.hidden * kPanelTokens; }
  IndexRange FindPanels(int worker) const {
    return ComputeShare(panels_, 1, worker, team_.size());
  }

  const MappedBlock& arena_;
  WeightStore* const store_;
  StepTeam team_;
  float* const hidden_;   // the states
  StepTimes step_times_;  // as worker 0 measures them

 private:
  const LayerShape shape_;
  const ModelPlan& plan_;
  // The streams are declared before the products, which hold leases of them, so
  // that they outlive the products.
  std::vector<std::unique_ptr<TileStream>> streams_;
  std::vector<StreamedProduct> products_;
  // Runs a chunk's products that are before its activation and gate.
  absl::Status ExpandChunk(const FeedForward& part, const IndexRange& chunk,
                           int worker);

  int64_t tokens_ = 0;
  int64_t panels_ = 0;
  int64_t joint_panels_ = 0;
  // The places of tokens that are taken as vectors.
  std::vector<StreamedProduct::SingleToken> single_tokens_;
};

}  // namespace footprint::lowmem_internal

// Tested by encoder_test and decoder_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_LAYER_PASS_H_

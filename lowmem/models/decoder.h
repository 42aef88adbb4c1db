// A decoder (GPT-2, Llama and the families in its form: see decoder_config.h)
// whose weights are read a tile at a time, inside a budget of bytes that
// includes the keys and values of the tokens that were read. Encoders with the
// same layers (ModernBERT, NomicBert, EmbeddingGemma) run here, too.
//
//   absl::StatusOr<std::unique_ptr<footprint::Decoder>> decoder =
//       footprint::Decoder::Open("gpt2-large",
//                                footprint::WeightBackend::kPread);
//   absl::StatusOr<footprint::DecoderPlan> plan =
//       (*decoder)->Plan(/*positions=*/64, /*workers=*/2, /*budget=*/48 << 20);
//   absl::StatusOr<std::unique_ptr<footprint::DecoderRun>> run =
//       (*decoder)->Start(*plan);
//   absl::Status status = footprint::GenerateGreedily(
//       **run, prompt, /*count=*/20, [](int32_t id) { ... });
//
// The output's bits are the same for every backend, budget, number of workers
// and packing of the file. Instruction sets with fused multiply-add give one
// set of bits, and those without it another. With GPT-2 they also do not depend
// on how the tokens are cut into calls. With other families a token that is
// alone in its call may differ in its last bits from one that is read among
// others, because a row of their matrices is then summed in another order.
//
// A decoder that is opened for states (DecoderUse::kStates) needs no output
// matrix, and its runs give only the last token's state (AppendForState). A
// bidirectional model must be opened for states, and gives those of all tokens
// (EncodeStates).
//
// A run may read several sequences over one reading of the weights
// (DecoderRun::AppendTogether; continuation_queue.h continues many prompts so).
// Each has the bits that it has alone.
//
// The decoder must outlive its runs, and a run its output, which the next
// Append overwrites. A decoder is thread-safe; a run is used by one thread at a
// time and has workers of its own. Memory: the plan's arena, which holds keys,
// values, activations, weights in flight, the list of tiles to read ahead and
// the output; outside of the plan the file's index (about 150 bytes a tensor),
// the workers' stacks and, with WeightBackend::kResident, the weights. Append
// allocates nothing. Time: every Append reads every weight that the plan does
// not keep in memory, once for each plan.chunk_tokens.
//
// Errors are those of ReadDecoderConfig, ReadGgufConfig, FindDecoderWeights,
// PlanDecoder and WeightStore. Open returns Unimplemented if a bidirectional
// model is to give logits. Append returns InvalidArgument if there is no
// token, if a token is outside of the vocabulary, or if there are more tokens
// than planned. It returns DataLoss if the weights lead to NaN or infinity,
// which is never returned; the message names the first layer where it appears.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_run.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

struct DecoderOptions {
  DecoderUse use = DecoderUse::kLogits;
  // The arithmetic of products with quantised matrices.
  Arithmetic arithmetic = Arithmetic::kExact;
  // The type in which keys and values are kept. Rounded to halves or bytes
  // (rounded_cache.h), they take 0.5 or 0.27 of the memory.
  CacheType cache_type = CacheType::kF32;
};

class Decoder {
 public:
  // Opens a GGUF file, or a folder with config.json and weights (see
  // checkpoint_folder.h).
  static absl::StatusOr<std::unique_ptr<Decoder>> Open(
      absl::string_view path, WeightBackend backend,
      const DecoderOptions& options);
  static absl::StatusOr<std::unique_ptr<Decoder>> Open(
      absl::string_view path, WeightBackend backend,
      DecoderUse use = DecoderUse::kLogits);

  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const DecoderConfig& config() const { return config_; }
  const DecoderWeights& weights() const { return weights_; }
  WeightStore& store() const { return *store_; }

  // Plans runs of `sequences` that read at most `positions` tokens each.
  absl::StatusOr<DecoderPlan> Plan(int64_t positions, int workers,
                                   int64_t budget_bytes,
                                   int64_t sequences = 1) const;
  // Returns the smallest budget that Plan accepts.
  absl::StatusOr<int64_t> MinBudgetBytes(int64_t positions, int workers,
                                         int64_t sequences = 1) const;
  // Returns the most sequences with which Plan accepts the budget; 0 if none.
  absl::StatusOr<int64_t> MostSequences(int64_t positions, int workers,
                                        int64_t budget_bytes) const;
  // Predicts the time to read a prompt and generate `generated` tokens, the
  // last of which is not read, from the plan's tiles: see pass_time.h. Only
  // ratios of two results mean anything. Each of the plan's sequences has such
  // a prompt. `generated` must be at least 1.
  absl::StatusOr<double> PredictSeconds(const DecoderPlan& plan,
                                        int64_t prompt_tokens,
                                        int64_t generated) const;
  // Returns the least budget whose predicted time is close to that of an ample
  // one: see budget_choice.h.
  absl::StatusOr<BudgetChoice> ChooseBudget(int64_t prompt_tokens,
                                            int64_t generated, int workers,
                                            int64_t sequences = 1) const;

  // Returns the least bytes that a call of Append reads in any program with as
  // much memory as the plan: see read_bound.h. If the plan has several
  // sequences, the program keeps their keys and values there.
  ReadBound ComputeReadBound(const DecoderPlan& plan) const;

  // Allocates what the plan says and starts the workers. Returns
  // InvalidArgument if the plan is for another model, file or backend. Returns
  // Unavailable if the system refuses to start a worker.
  absl::StatusOr<std::unique_ptr<DecoderRun>> Start(
      const DecoderPlan& plan) const;

 private:
  Decoder(const DecoderConfig& config, std::unique_ptr<WeightStore> store,
          DecoderWeights weights, const DecoderOptions& options);
  DecoderPlanRequest Request(int64_t positions, int workers,
                             int64_t sequences) const;

  const DecoderOptions options_;
  DecoderConfig config_;
  std::unique_ptr<WeightStore> store_;
  DecoderWeights weights_;
};

// Reads the prompt, chooses the most likely next token (the first of equals)
// and passes it to `say`. Reads that token and chooses again, until it has
// passed `count` tokens. The last one is not read, so the run needs positions
// for the prompt and count - 1 tokens. With a count of 0 nothing is read.
// Errors are those of Append.
absl::Status GenerateGreedily(DecoderRun& run, absl::Span<const int32_t> prompt,
                              int64_t count,
                              absl::FunctionRef<void(int32_t id)> say);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_H_

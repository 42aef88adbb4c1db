// An encoder (BERT, DistilBERT, RoBERTa, XLM-R, CamemBERT, MPNet) whose weights
// are read a tile at a time, inside a budget of bytes.
//
//   absl::StatusOr<std::unique_ptr<footprint::Encoder>> encoder =
//       footprint::Encoder::Open("bert-large-uncased",
//                                footprint::WeightBackend::kPread);
//   absl::StatusOr<footprint::EncoderPlan> plan =
//       (*encoder)->Plan(/*tokens=*/512, /*workers=*/2, /*budget=*/6 << 20);
//   absl::StatusOr<std::unique_ptr<footprint::EncoderRun>> run =
//       (*encoder)->Start(*plan);
//   absl::StatusOr<absl::Span<const float>> states = (*run)->Forward(ids, {});
//   // states[token * hidden + feature]
//
// The output's bits are the same for every backend, budget, number of workers
// and packing of the file, and a sequence in a batch (ForwardBatch) has the
// same bits as by itself. A plan for one token is the exception: it multiplies
// vectors and sums in another order, so that token may differ in its last bits
// from the same token in a plan for more tokens.
//
// The encoder must outlive its runs, and a run its output, which the next
// Forward overwrites. An encoder is thread-safe; a run is used by one thread at
// a time and has workers of its own. Memory: the plan's arena, which holds
// activations, weights in flight, the list of tiles to read ahead and the
// output; outside of the plan the file's index (about 150 bytes a tensor), the
// workers' stacks and, with WeightBackend::kResident, the weights. Forward
// allocates nothing unless it fails.
//
// Errors are those of ReadEncoderConfig, FindEncoderWeights, PlanEncoder and
// WeightStore. A run returns InvalidArgument if a token is outside of the
// vocabulary, if token types are not valid or not one for each token, or if
// there are no tokens or sequences or more than planned. It returns
// FailedPrecondition if the file changed. It returns DataLoss if the weights
// lead to NaN or infinity, which is never returned; the message names the first
// layer where it appears.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_run.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/streaming/budget_choice.h"
#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

class Encoder {
 public:
  // Reads `directory`/config.json and opens the folder's weights (see
  // checkpoint_folder.h).
  static absl::StatusOr<std::unique_ptr<Encoder>> Open(
      absl::string_view directory, WeightBackend backend,
      Arithmetic arithmetic = Arithmetic::kExact);

  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const EncoderConfig& config() const { return config_; }
  const EncoderWeights& weights() const { return weights_; }
  WeightStore& store() const { return *store_; }

  // Plans passes of at most `sequences` sequences, each of at most `tokens`
  // tokens.
  absl::StatusOr<EncoderPlan> Plan(int64_t tokens, int workers,
                                   int64_t budget_bytes,
                                   int64_t sequences = 1) const;
  // Returns the smallest budget that Plan accepts.
  absl::StatusOr<int64_t> MinBudgetBytes(int64_t tokens, int workers,
                                         int64_t sequences = 1) const;
  // Predicts the time of a pass from the plan's tiles: see pass_time.h. Only
  // ratios of two results mean anything.
  absl::StatusOr<double> PredictPassSeconds(const EncoderPlan& plan) const;
  // Returns the least budget whose predicted time is close to that of an ample
  // one: see budget_choice.h.
  absl::StatusOr<BudgetChoice> ChooseBudget(int64_t tokens, int workers,
                                            int64_t sequences = 1) const;

  // Returns the least bytes that a pass reads in any program with as much
  // memory as the plan: see read_bound.h.
  ReadBound ComputeReadBound(const EncoderPlan& plan) const;

  // Allocates what the plan says and starts the workers. Returns
  // InvalidArgument if the plan is for another model, file or backend. Returns
  // Unavailable if the system refuses to start a worker, ResourceExhausted if
  // there is no memory, or the store's error if a tensor cannot be read.
  absl::StatusOr<std::unique_ptr<EncoderRun>> Start(
      const EncoderPlan& plan) const;

 private:
  Encoder(const EncoderConfig& config, std::unique_ptr<WeightStore> store,
          EncoderWeights weights, Arithmetic arithmetic);
  EncoderPlanRequest Request(int64_t tokens, int workers,
                             int64_t sequences) const;

  const Arithmetic arithmetic_;
  EncoderConfig config_;
  std::unique_ptr<WeightStore> store_;
  EncoderWeights weights_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_H_

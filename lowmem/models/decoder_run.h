// A run of a decoder, and its implementation; see decoder.h.
//
//   absl::StatusOr<std::unique_ptr<DecoderRun>> run =
//       lowmem_internal::StartDecoderRun(config, weights, store.get(), plan);
//
// A run is used by one thread at a time and has its own workers. The numbers
// that it returns are in its arena, and the next Append overwrites them.
// Memory: the arena, which has the plan's size, and the workers' stacks; Append
// allocates nothing. Errors are those of decoder.h. Append, AppendTogether and
// AppendForScores also return FailedPrecondition if the decoder was opened for
// states. AppendForScores returns InvalidArgument if the lengths of its
// arguments differ, and AppendTogether if its sequences do not ascend or are
// more than planned. AppendForState returns FailedPrecondition if the model is
// bidirectional, and EncodeStates if it is not.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_RUN_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_RUN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// The next tokens of one of a run's sequences, which are counted from 0.
struct SequenceTokens {
  int64_t sequence = 0;
  absl::Span<const int32_t> ids;
};

class DecoderRun {
 public:
  virtual ~DecoderRun() = default;

  // Reads tokens of several sequences, in ascending order, over one reading of
  // the weights; over several if the tokens are more than the plan's
  // chunk_tokens. Each sequence gets the bits that Append gives it alone,
  // whatever its neighbours. After an error the run is as before the call, and
  // the logits are not of use. The functions below without a sequence are for
  // sequence 0; a sequence that they are given must be one of the plan's.
  virtual absl::Status AppendTogether(
      absl::Span<const SequenceTokens> inputs) = 0;

  // Reads tokens after the earlier ones. Returns the logits of the next token,
  // one for each entry of the vocabulary. After an error the run is as before
  // the call.
  virtual absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) = 0;

  // Reads tokens in the same way, but does not read the output's matrix.
  // Returns the last token's state after the last norm, one number for each
  // hidden feature, which the next call overwrites. It is for models that
  // compute vectors of texts.
  virtual absl::StatusOr<absl::Span<const float>> AppendForState(
      absl::Span<const int32_t> ids) = 0;

  // Reads a whole text with a bidirectional model, in place of earlier tokens.
  // Returns the states of all its tokens after the last norm, token after
  // token, which the next call overwrites. A single token may differ in its
  // last bits from the same token in a longer text of equal ones.
  virtual absl::StatusOr<absl::Span<const float>> EncodeStates(
      absl::Span<const int32_t> ids) = 0;

  // Reads tokens in the same way. Writes the logarithm of the probability of
  // each `next` token: of next[i] after ids[i] and all tokens before it. `next`
  // and `scores` are as long as `ids`. Each weight is read once for many
  // tokens, the output's matrix included. Only as many logits are held as fit
  // in the memory of a chunk's states. The numbers have the same bits for every
  // backend, budget and number of workers. Except with GPT-2, the number of a
  // token that is read among others may differ in its last bits from that of
  // Append.
  virtual absl::Status AppendForScores(absl::Span<const int32_t> ids,
                                       absl::Span<const int32_t> next,
                                       absl::Span<double> scores) = 0;

  // Returns the logits after the sequence's last token, if the last call that
  // read tokens of the sequence gave logits.
  virtual absl::Span<const float> LogitsOf(int64_t sequence) const = 0;
  absl::Span<const float> logits() const { return LogitsOf(0); }

  // Forgets all tokens of the sequence, whose place another one may take.
  virtual void ClearSequence(int64_t sequence) = 0;
  void Clear() { ClearSequence(0); }

  // Returns the number of tokens read so far.
  virtual int64_t TokensOf(int64_t sequence) const = 0;
  int64_t tokens() const { return TokensOf(0); }

  virtual const DecoderPlan& plan() const = 0;

  // Returns how often the weights were read, without readings that ended before
  // the output.
  virtual int64_t passes() const = 0;

  // Returns the times of the last Append's steps: the embeddings, each layer,
  // then the output.
  virtual absl::Span<const int64_t> step_nanoseconds() const = 0;

  // Describes how tiles are read: "when used", or how they are read ahead.
  virtual std::string ReadingDescription() const = 0;

  // Returns the arena's pages that are in memory, as the kernel counts them, in
  // bytes.
  virtual int64_t ResidentArenaBytes() const = 0;
};

namespace lowmem_internal {

// All arguments but the plan must outlive the run.
absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan);

}  // namespace lowmem_internal
}  // namespace footprint

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_RUN_H_

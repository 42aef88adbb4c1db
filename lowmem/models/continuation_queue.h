// Continues many prompts with a decoder, several over each reading of its
// weights.
//
//   const auto plan = decoder->Plan(positions, workers, budget,
//                                   /*sequences=*/16);
//   absl::StatusOr<std::unique_ptr<DecoderRun>> run = decoder->Start(*plan);
//   absl::Status status = footprint::ContinueAll(
//       **run, next,  // returns nullopt after the last prompt
//       [&](const Continuation& done) { return Print(done.ids); });
//
// As many prompts as the plan has sequences are continued together. One that
// ends leaves its place to the next prompt at once. Each prompt gets the tokens
// that it gets alone, whatever its neighbours. Results come in the order of the
// prompts. If the first of them takes long, at most 16 results for each place
// wait for it; then places stay free until it ends.
//
// The run must outlive the call. A place that a prompt takes forgets its
// earlier tokens, and keeps those of the prompt and its result afterwards.
// Memory: the ids of the prompts that are continued, and of the results that
// wait. Time: each step reads every weight once, and the weights of the layers
// once more for each further plan.chunk_tokens of prompts.
//
// A prompt that cannot be continued gets an error of its own: InvalidArgument
// if it is empty, has an id outside of the vocabulary or more tokens than the
// plan has positions, or if no token is wanted. The others go on. Other errors
// are those of DecoderRun::AppendTogether and of the function that takes
// results, and they end the call.

#ifndef FOOTPRINT_LOWMEM_MODELS_CONTINUATION_QUEUE_H_
#define FOOTPRINT_LOWMEM_MODELS_CONTINUATION_QUEUE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/models/decoder_run.h"
#include "footprint/lowmem/text/token_sampler.h"

namespace footprint {

struct Continuation {
  std::vector<int32_t> prompt;
  int64_t most_tokens = 1;  // to generate
  std::vector<int32_t> stop_ids;
  SamplingOptions sampling;

  // The result. A caller may set an error beforehand: then the prompt is not
  // continued, and keeps its place in the order.
  absl::Status status;
  // The generated tokens, the last of which may be a stop id.
  std::vector<int32_t> ids;
  // True if a stop id ended them, and false if `most_tokens` or the end of the
  // plan's positions did.
  bool has_stopped = false;
};

absl::Status ContinueAll(
    DecoderRun& run, absl::FunctionRef<absl::optional<Continuation>()> next,
    absl::FunctionRef<absl::Status(const Continuation&)> take);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_CONTINUATION_QUEUE_H_

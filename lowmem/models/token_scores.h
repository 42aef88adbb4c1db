// Computes how likely a decoder finds each token of a text.
//
//   absl::StatusOr<std::vector<double>> scores =
//       footprint::ScoreTokens(**run, ids);
//   // scores[i]: the logarithm of the probability of ids[i + 1] after
//   // ids[0..i]
//
// The run must be at its beginning; afterwards it has read all ids but the
// last. Sums are double precision and exact in any order, so the bits depend on
// neither budget, backend nor threads.
//
// Memory: one number for each token. Time: every weight is read once for each
// chunk_tokens of the plan (decoder_plan.h), as for a prompt. In addition each
// token costs the exponentials of the vocabulary, some 20 ns a word.
//
// Errors are those of DecoderRun::AppendForScores.

#ifndef FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_
#define FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/decoder_run.h"

namespace footprint {

// Returns ids.size() - 1 natural logarithms. For fewer than two ids the result
// is empty and nothing is read.
absl::StatusOr<std::vector<double>> ScoreTokens(DecoderRun& run,
                                                absl::Span<const int32_t> ids);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_

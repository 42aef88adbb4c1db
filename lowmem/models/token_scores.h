// Computes how likely a decoder finds each token of a text.
//
//   absl::StatusOr<std::vector<double>> scores =
//       footprint::ScoreTokens(**run, ids);
//   // scores[i]: the logarithm of the probability of ids[i + 1] after
//   ids[0..i]
//
// The run must be at its beginning; afterwards it has read all ids but the
// last. Sums are double precision.
//
// Memory: one number for each token. Time: each token reads every weight once,
// as in generation.
//
// Errors are those of DecoderRun::Append.

#ifndef FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_
#define FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/decoder_run.h"

namespace footprint {

absl::StatusOr<std::vector<double>> ScoreTokens(DecoderRun& run,
                                                absl::Span<const int32_t> ids);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_TOKEN_SCORES_H_

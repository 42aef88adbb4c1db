// How likely a decoder finds a text, token by token.
//
//   absl::StatusOr<std::vector<double>> scores =
//       footprint::ScoreTokens(**run, ids);
//   // scores[i]: the logarithm of the probability of ids[i + 1] after
//   ids[0..i]
//
// The run is at its beginning, and has read all but the last id afterwards.
// Sums are double precision.
//
// Memory: one number for each token. Time: each token reads every weight once,
// as writing does.
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

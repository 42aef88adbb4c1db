#include "footprint/lowmem/models/token_scores.h"

namespace footprint {

absl::StatusOr<std::vector<double>> ScoreTokens(DecoderRun& run,
                                                absl::Span<const int32_t> ids) {
  if (ids.size() < 2) return std::vector<double>();
  std::vector<double> scores(ids.size() - 1);
  const absl::Status status = run.AppendForScores(
      ids.first(scores.size()), ids.subspan(1), absl::MakeSpan(scores));
  if (!status.ok()) return status;
  return scores;
}

}  // namespace footprint

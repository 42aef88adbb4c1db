#include "footprint/lowmem/models/token_scores.h"

#include <algorithm>
#include <cmath>

namespace footprint {
namespace {

double LogProbability(absl::Span<const float> logits, int32_t id) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return logits[id] - largest - std::log(sum);
}

}  // namespace

absl::StatusOr<std::vector<double>> ScoreTokens(DecoderRun& run,
                                                absl::Span<const int32_t> ids) {
  std::vector<double> scores;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    const auto logits = run.Append(ids.subspan(i, 1));
    if (!logits.ok()) return logits.status();
    scores.push_back(LogProbability(*logits, ids[i + 1]));
  }
  return scores;
}

}  // namespace footprint

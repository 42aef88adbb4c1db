#include "footprint/lowmem/text/token_sampler.h"

#include <algorithm>
#include <cmath>

namespace footprint {

double TokenSampler::NextShare() {
  // A double holds 53 bits exactly.
  return std::ldexp(
      static_cast<double>(RandomAt(options_.seed, drawn_++) >> 11), -53);
}

std::vector<std::pair<float, int32_t>> TokenSampler::FindLikely(
    absl::Span<const float> logits) const {
  std::vector<std::pair<float, int32_t>> words;
  words.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    words.emplace_back(logits[i], static_cast<int32_t>(i));
  }
  // Equal logits are ordered by id.
  const auto is_likelier = [](const std::pair<float, int32_t>& a,
                              const std::pair<float, int32_t>& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  const auto count = options_.top_k > 0
                         ? std::min<size_t>(options_.top_k, words.size())
                         : words.size();
  std::partial_sort(words.begin(), words.begin() + count, words.end(),
                    is_likelier);
  words.resize(count);
  return words;
}

int32_t TokenSampler::Choose(absl::Span<const float> logits) {
  if (options_.temperature <= 0) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) -
                                logits.begin());
  }
  const std::vector<std::pair<float, int32_t>> words = FindLikely(logits);
  const double largest = words[0].first;
  const auto weight = [&](float logit) {
    return std::exp((logit - largest) / options_.temperature);
  };
  double total = 0;
  for (const auto& [logit, id] : words) total += weight(logit);
  size_t count = 0;
  double kept = 0;
  while (count < words.size() &&
         (count == 0 || kept < options_.top_p * total)) {
    kept += weight(words[count++].first);
  }
  double left = NextShare() * kept;
  for (size_t i = 0; i < count; ++i) {
    left -= weight(words[i].first);
    if (left < 0) return words[i].second;
  }
  return words[count - 1].second;
}

}  // namespace footprint

#include "footprint/lowmem/text/token_sampler.h"

#include <algorithm>
#include <cmath>

namespace footprint {

double TokenSampler::NextShare() {
  // A double holds 53 bits exactly.
  return std::ldexp(
      static_cast<double>(RandomAt(options_.seed, drawn_++) >> 11), -53);
}

void TokenSampler::KeepLikely(absl::Span<const float> logits) {
  words_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    words_.emplace_back(logits[i], static_cast<int32_t>(i));
  }
  // Equal logits are ordered by id.
  const auto is_likelier = [](const std::pair<float, int32_t>& a,
                              const std::pair<float, int32_t>& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  const auto count = options_.top_k > 0
                         ? std::min<size_t>(options_.top_k, words_.size())
                         : words_.size();
  std::partial_sort(words_.begin(), words_.begin() + count, words_.end(),
                    is_likelier);
  words_.resize(count);
}

int32_t TokenSampler::Choose(absl::Span<const float> logits) {
  if (options_.temperature <= 0) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) -
                                logits.begin());
  }
  KeepLikely(logits);
  const double largest = words_[0].first;
  const auto weight = [&](float logit) {
    return std::exp((logit - largest) / options_.temperature);
  };
  double total = 0;
  for (const auto& [logit, id] : words_) total += weight(logit);
  size_t count = 0;
  double kept = 0;
  while (count < words_.size() &&
         (count == 0 || kept < options_.top_p * total)) {
    kept += weight(words_[count++].first);
  }
  double left = NextShare() * kept;
  for (size_t i = 0; i < count; ++i) {
    left -= weight(words_[i].first);
    if (left < 0) return words_[i].second;
  }
  return words_[count - 1].second;
}

}  // namespace footprint

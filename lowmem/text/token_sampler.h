// Chooses the next word of a text from a model's logits.
//
//   SamplingOptions options;
//   options.temperature = 0.7;
//   options.top_p = 0.9;
//   footprint::TokenSampler sampler(options);
//   int32_t id = sampler.Choose(*run->Append(ids));
//
// With a temperature of 0 the most likely word is chosen, the first one if
// several are equal. Otherwise the weight of a word is exp(logit /
// temperature); only the `top_k` most likely words count, and of those the
// fewest that together have `top_p` of their weight. Equal options and equal
// logits in each call give equal words.
//
// Thread-compatible. Memory: during a choice 8 bytes for each word of the
// vocabulary, unless the temperature is 0. Time: one pass over the logits, and
// a sort of the `top_k` most likely words; of all words if only `top_p` is
// given.
//
// Source: Holtzman et al., "The Curious Case of Neural Text Degeneration",
// 2020.

#ifndef FOOTPRINT_LOWMEM_TEXT_TOKEN_SAMPLER_H_
#define FOOTPRINT_LOWMEM_TEXT_TOKEN_SAMPLER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {

struct SamplingOptions {
  double temperature = 0;  // finite, at least 0
  int64_t top_k = 0;       // 0: all words
  double top_p = 1;        // above 0, at most 1
  uint64_t seed = 1;
};

class TokenSampler {
 public:
  explicit TokenSampler(const SamplingOptions& options) : options_(options) {}

  // Returns the id of the next word. `logits` must not be empty and must be
  // finite.
  int32_t Choose(absl::Span<const float> logits);

 private:
  // Returns the logits and ids of the words that count, the most likely first.
  std::vector<std::pair<float, int32_t>> FindLikely(
      absl::Span<const float> logits) const;
  double NextShare();  // in [0, 1)

  const SamplingOptions options_;
  uint64_t drawn_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TOKEN_SAMPLER_H_

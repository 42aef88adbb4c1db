// How the states of a text's tokens become one vector: modules.json of a
// sentence-transformers checkpoint, and the folders that it names.
//
//   absl::StatusOr<footprint::SentencePooling> pooling =
//       footprint::ReadSentencePooling("all-MiniLM-L6-v2");
//   footprint::PoolStates(*pooling, states, absl::MakeSpan(vector));
//
// Known are poolings by the mean, by the first token ([CLS]), by the largest
// number and by the last token, each alone, and Normalize. A folder without
// modules.json has the mean, not normalised, as sentence-transformers take it
// then; `is_stated` is false.
//
// Plain data and pure functions; thread-safe. Memory: the files' texts while
// they are read. Sums are double precision.
//
// Unimplemented: another module, as Dense, or several poolings side by side;
// names the file. InvalidArgument: a file that is no JSON of its kind.

#ifndef FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_
#define FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace footprint {

struct SentencePooling {
  enum class Kind { kMean, kFirst, kLargest, kLast };
  Kind kind = Kind::kMean;
  // The vector's length is 1 afterwards.
  bool normalises = false;
  // The most tokens of a text, those around it included; 0: not said.
  int64_t most_tokens = 0;
  bool is_stated = true;
};

absl::StatusOr<SentencePooling> ReadSentencePooling(
    const std::string& directory);

// `states`: tokens x features, at least one token. `vector` has the features.
void PoolStates(const SentencePooling& pooling, absl::Span<const float> states,
                absl::Span<float> vector);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_

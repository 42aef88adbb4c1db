// How the states of a text's tokens become one vector: modules.json of a
// sentence-transformers checkpoint, and the folders that it names.
//
//   absl::StatusOr<footprint::SentencePooling> pooling =
//       footprint::ReadSentencePooling("all-MiniLM-L6-v2");
//   footprint::PoolStates(pooling->kind, states, absl::MakeSpan(vector));
//
// It knows pooling by the mean (also by the root of the number of tokens, and
// weighted by position), by the first token ([CLS]), by the largest number and
// by the last token, each alone, then Dense, then Normalize. A folder without
// modules.json has the mean, not normalised, as sentence-transformers take it
// then; `is_stated` is false.
//
// Plain data and pure functions; thread-safe. Memory: the files' texts while
// they are read. Sums are double precision.
//
// Unimplemented: another module or another order of them, or several poolings
// side by side; the text names the file. InvalidArgument: a file that is no
// JSON of its kind. NotFound: there is no prompt of that name; the text says
// which there are.

#ifndef FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_
#define FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace footprint {

struct SentencePooling {
  enum class Kind {
    kMean,
    kFirst,
    kLargest,
    kLast,
    kMeanByRoot,    // the sum over the root of the number of tokens
    kWeightedMean,  // the first token counts once, the second twice
  };
  Kind kind = Kind::kMean;
  // Folders of modules that are applied to the pooled vector.
  std::vector<std::string> dense;
  // The vector is scaled to length 1.
  bool normalises = false;
  // The folder of the model itself.
  std::string model_folder;
  // The most tokens of a text, those around it included; 0: not said.
  int64_t most_tokens = 0;
  // Texts are made lower case before the tokenizer sees them.
  bool lowers = false;
  // The text that is put before each text to embed.
  std::string prompt;
  bool is_stated = true;
};

// Reads the folder's modules. `prompt_name` is a key of the prompts in
// config_sentence_transformers.json; empty: the default that the file names, if
// any.
absl::StatusOr<SentencePooling> ReadSentencePooling(
    const std::string& directory, const std::string& prompt_name = "");

// `states`: tokens x features, at least one token. `vector` has the features.
// The vector is neither normalised nor put through Dense.
void PoolStates(SentencePooling::Kind kind, absl::Span<const float> states,
                absl::Span<float> vector);

// Scales the vector to length 1; a vector of zeros stays as it is.
void NormaliseVector(absl::Span<float> vector);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_

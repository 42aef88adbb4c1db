// Combines the states of a text's tokens into one vector, as modules.json of a
// sentence-transformers checkpoint and the folders that it names say.
//
//   absl::StatusOr<footprint::SentencePooling> pooling =
//       footprint::ReadSentencePooling("all-MiniLM-L6-v2");
//   footprint::PoolStates(pooling->kind, states, absl::MakeSpan(vector));
//
// The known poolings are the mean (also divided by the root of the number of
// tokens, or weighted by position), the first token ([CLS]), the maximum and
// the last token. One pooling may be followed by Dense modules and Normalize. A
// folder without modules.json has the mean without Normalize, the default of
// sentence-transformers; `is_stated` is then false.
//
// Plain data and pure functions; thread-safe. Memory: the files' texts during
// the read. Sums are in double precision.
//
// The error is Unimplemented for another module (Dropout is ignored), another
// order of modules, an unknown pooling, none or several at once, or a prompt
// that is not pooled; the message names the file. The error is InvalidArgument
// if a file is not JSON of its kind or has more than 16 MiB, if a setting has
// another type, or if modules.json names no pooling. The error is NotFound if
// the pooling's config.json is missing, or if there is no prompt of that name;
// then the message lists those that exist.

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
  // Folders of the modules that are applied to the pooled vector.
  std::vector<std::string> dense;
  // The vector is scaled to length 1.
  bool normalises = false;
  // The folder of the model itself.
  std::string model_folder;
  // The most tokens of a text, including added ones; 0: no limit given.
  int64_t most_tokens = 0;
  // Texts are converted to lower case before tokenization.
  bool lowers = false;
  // The prompt that is put before each text.
  std::string prompt;
  bool is_stated = true;
};

// Returns the pooling's name in newer configs, such as "lasttoken".
const char* PoolingName(SentencePooling::Kind kind);

// Reads the folder's modules. `prompt_name` is a key of the prompts in
// config_sentence_transformers.json. If it is empty, the file's default prompt
// applies, if any.
absl::StatusOr<SentencePooling> ReadSentencePooling(
    const std::string& directory, const std::string& prompt_name = "");

// Writes the pooled states to `vector`, which has one number for each feature.
// `states` is [tokens, features] with at least one token. Neither Dense nor
// Normalize is applied.
void PoolStates(SentencePooling::Kind kind, absl::Span<const float> states,
                absl::Span<float> vector);

// Scales the vector to length 1; one that is shorter than 1e-12 is divided by
// that, so that zeros stay as they are.
void NormaliseVector(absl::Span<float> vector);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_SENTENCE_POOLING_H_

// Unigram segmentation of one piece of a text: of all ways to cover it with
// words the most likely one, each word by itself.
//
//   footprint::UnigramModel model(&words, scores, options);
//   model.Encode("\u2581Hello", &ids);
//
// Found from the left by dynamic programming (Viterbi). A character that begins
// no word of its own length may be an unknown one, ten below the least likely
// word; unknown ones in a row are one word.
//
// The table is the caller's and outlives the model. Thread-safe. Memory: 8
// bytes a word, and 24 for each byte of a piece while it is encoded. Time: for
// each byte of a piece that of finding all words that may begin there.
//
// Source: Kudo, "Subword Regularization", 2018, as Hugging Face's tokenizers do
// it.

#ifndef FOOTPRINT_LOWMEM_TEXT_UNIGRAM_MODEL_H_
#define FOOTPRINT_LOWMEM_TEXT_UNIGRAM_MODEL_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/token_table.h"

namespace footprint {

struct UnigramOptions {
  absl::optional<int32_t> unknown;  // else unknown characters are left out
  // What is unknown becomes the words "<0xE4>" of its bytes, if all are there.
  bool falls_back_to_bytes = false;
};

class UnigramModel {
 public:
  // `scores` has the logarithm of each word's probability, by id.
  UnigramModel(const TokenTable* words, std::vector<double> scores,
               const UnigramOptions& options);

  // Adds the piece's ids.
  void Encode(absl::string_view piece, std::vector<int32_t>* ids) const;

 private:
  // The best way to some byte of the piece.
  struct Step {
    double score = 0;
    int32_t id = -1;
    int64_t begin = -1;  // of its last word; -1: there is no way yet
  };

  std::vector<Step> FindWay(absl::string_view piece) const;
  void AddUnknown(absl::string_view text, std::vector<int32_t>* ids) const;

  const TokenTable* words_;
  const std::vector<double> scores_;
  const UnigramOptions options_;
  double unknown_score_ = 0;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_UNIGRAM_MODEL_H_

// Segments one piece of a text with a unigram model: finds the most likely way
// to cover the piece with words, if each word is drawn independently.
//
//   footprint::UnigramModel model(&words, scores, options);
//   model.Encode("\u2581Hello", &ids);
//
// The way is found from left to right by dynamic programming (Viterbi). A
// character that is not a word may be unknown, with a score ten below that of
// the least likely word. Unknown characters in a row become one word: that of
// their text if it is a word, else the unknown word, unless they become words
// of bytes.
//
// The caller owns the table, which must outlive the model. Thread-safe. Memory:
// 8 bytes a word, and 24 for each byte of a piece while it is encoded. Time: at
// each byte of a piece, a search for all words that begin there.
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
  absl::optional<int32_t> unknown;  // if unset, unknown characters are left out
  // True: unknown text becomes the words of its bytes, such as "<0xE4>", if all
  // of them exist.
  bool falls_back_to_bytes = false;
};

class UnigramModel {
 public:
  // `scores` holds the logarithm of each word's probability, by id; it must
  // have a number for every id of the table.
  UnigramModel(const TokenTable* words, std::vector<double> scores,
               const UnigramOptions& options);

  // Appends the piece's ids.
  void Encode(absl::string_view piece, std::vector<int32_t>* ids) const;

 private:
  // The best segmentation of the piece up to some byte.
  struct Step {
    double score = 0;
    int32_t id = -1;
    int64_t begin = -1;  // of its last word; -1: none found yet
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

// WordPiece of one word: the longest words of the vocabulary, from the left.
//
//   footprint::WordPieceModel model(&words, options);
//   model.Encode("embedding", &ids);  // "em", "##bed", "##ding"
//
// A word that cannot be covered, or that is too long, is one unknown word.
//
// The table is the caller's and outlives the model. Thread-safe. Memory: a word
// while it is encoded. Time: at most the square of the word's bytes.
//
// Source: Schuster and Nakajima, "Japanese and Korean Voice Search", 2012, as
// BERT's tokenizer does it.

#ifndef FOOTPRINT_LOWMEM_TEXT_WORD_PIECE_MODEL_H_
#define FOOTPRINT_LOWMEM_TEXT_WORD_PIECE_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/lowmem/text/token_table.h"

namespace footprint {

struct WordPieceOptions {
  int32_t unknown = 0;
  // How words begin that go on with another.
  std::string continuing_prefix = "##";
  int64_t most_characters = 100;
};

class WordPieceModel {
 public:
  WordPieceModel(const TokenTable* words, const WordPieceOptions& options)
      : words_(words), options_(options) {}

  // Adds the word's ids.
  void Encode(absl::string_view word, std::vector<int32_t>* ids) const;

 private:
  // Returns the id of the longest word that `text` begins with, and takes it
  // off; -1: there is none.
  int32_t TakeLongest(bool is_first, absl::string_view* text) const;

  const TokenTable* words_;
  const WordPieceOptions options_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_WORD_PIECE_MODEL_H_

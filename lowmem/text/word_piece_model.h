// WordPiece encoding of one word: takes the longest words of the vocabulary,
// from left to right.
//
//   footprint::WordPieceModel model(&words, options);
//   model.Encode("embedding", &ids);  // "em", "##bed", "##ding"
//
// A word that cannot be covered, or that is too long, becomes one unknown word.
//
// The caller owns the table, which must outlive the model. Thread-safe. Memory:
// one word while it is encoded. Time: for each piece a search for each length
// that a word may have, so at most cubic in the word's bytes.
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
  // The beginning of words that continue another word.
  std::string continuing_prefix = "##";
  // A longer word becomes the unknown word.
  int64_t most_characters = 100;
};

class WordPieceModel {
 public:
  WordPieceModel(const TokenTable* words, const WordPieceOptions& options)
      : words_(words), options_(options) {}

  // Appends the word's ids.
  void Encode(absl::string_view word, std::vector<int32_t>* ids) const;

 private:
  // Removes the longest word that begins `text` and returns its id, or -1 if no
  // word begins it.
  int32_t TakeLongest(bool is_first, absl::string_view* text) const;

  const TokenTable* words_;
  const WordPieceOptions options_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_WORD_PIECE_MODEL_H_

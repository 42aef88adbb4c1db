// Encodes one piece of a text by byte-pair encoding.
//
//   footprint::BytePairModel model(&words, &merges, options);
//   model.Encode("Hello", &ids);
//
// A piece begins as single bytes or characters. Again and again, the model
// joins the neighbours whose merge has the lowest rank, the leftmost first,
// until no merge joins two neighbours.
//
// The caller owns the tables, which must outlive the model. Thread-safe.
// Memory: up to about 100 bytes for each byte of a piece while it is encoded.
// Time: n log n in the piece's bytes.

#ifndef FOOTPRINT_LOWMEM_TEXT_BYTE_PAIR_MODEL_H_
#define FOOTPRINT_LOWMEM_TEXT_BYTE_PAIR_MODEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/merge_table.h"
#include "footprint/lowmem/text/token_table.h"

namespace footprint {

struct BytePairOptions {
  // True: pieces begin as single bytes. False: they begin as characters.
  bool begins_with_bytes = false;
  // True: a piece that is a word of the vocabulary becomes that word without
  // merges.
  bool takes_whole_words = false;
  // True: a character that is not a word becomes the words of its bytes, such
  // as "<0xE4>", if all of them exist.
  bool falls_back_to_bytes = false;
  // The word for all other unknown characters. If unset, they are left out.
  absl::optional<int32_t> unknown;
  // True: several unknown characters in a row become one unknown word.
  bool fuses_unknown = false;
};

class BytePairModel {
 public:
  BytePairModel(const TokenTable* words, const MergeTable* merges,
                const BytePairOptions& options);

  // Appends the piece's ids.
  void Encode(absl::string_view piece, std::vector<int32_t>* ids) const;

 private:
  std::vector<int32_t> Begin(absl::string_view piece) const;
  // Appends the words of the character's bytes and returns true, or returns
  // false if one of its bytes is not a word.
  bool AddBytes(absl::string_view character, std::vector<int32_t>* ids) const;

  const TokenTable* words_;
  const MergeTable* merges_;
  const BytePairOptions options_;
  // the ids of "<0x00>" to "<0xFF>"; -1: no such word
  std::array<int32_t, 256> byte_words_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_BYTE_PAIR_MODEL_H_

// Byte-pair encoding of one piece of a text.
//
//   footprint::BytePairModel model(&words, &merges, options);
//   model.Encode("Hello", &ids);
//
// A piece begins as single bytes or characters; of all neighbours that a merge
// joins, those of the most urgent merge are joined, from the left, until there
// are none.
//
// The tables are the caller's and outlive the model. Thread-safe. Memory: about
// 50 bytes for each byte of a piece while it is encoded. Time: n log n of the
// piece's bytes.

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
  // Pieces begin as bytes, of any value; else as characters.
  bool begins_with_bytes = false;
  // A piece that is a word as a whole is that word, whatever the merges.
  bool takes_whole_words = false;
  // A character that is no word becomes the words "<0xE4>" of its bytes.
  bool falls_back_to_bytes = false;
  // What else is no word becomes this one, or nothing.
  absl::optional<int32_t> unknown;
  // Several unknown characters in a row are one.
  bool fuses_unknown = false;
};

class BytePairModel {
 public:
  BytePairModel(const TokenTable* words, const MergeTable* merges,
                const BytePairOptions& options);

  // Adds the piece's ids.
  void Encode(absl::string_view piece, std::vector<int32_t>* ids) const;

 private:
  std::vector<int32_t> Begin(absl::string_view piece) const;
  // Returns whether all of the character's bytes are words, and adds them then.
  bool AddBytes(absl::string_view character, std::vector<int32_t>* ids) const;

  const TokenTable* words_;
  const MergeTable* merges_;
  const BytePairOptions options_;
  std::array<int32_t, 256> byte_words_;  // "<0xE4>"; -1: there is none
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_BYTE_PAIR_MODEL_H_

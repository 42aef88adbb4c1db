// The words that are found in a text before it is cut: "<|im_start|>",
// "[MASK]".
//
//   footprint::SpecialWords words;
//   words.Add({"<|im_end|>", 151645, /*is_special=*/true});
//   for (const SpecialWords::Part& part : words.Cut("Hi<|im_end|>")) ...
//
// At each place only the longest word that begins there can match. If that word
// must stand alone and does not, no word matches there. A word may begin within
// the whitespace that the word before it took. All of this is as in Hugging
// Face's library. Thread-compatible, and thread-safe once all words are added.
// Memory: the words, and 8 bytes a part. Time: that of comparing the words that
// begin with the byte at each place.

#ifndef FOOTPRINT_LOWMEM_TEXT_SPECIAL_WORDS_H_
#define FOOTPRINT_LOWMEM_TEXT_SPECIAL_WORDS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

struct SpecialWord {
  std::string content;
  int32_t id = 0;
  // A sign to the model, which is no part of a text that is shown.
  bool is_special = false;
  // Whitespace before and after belongs to it.
  bool takes_left = false;
  bool takes_right = false;
  // It counts only between characters that are of no word.
  bool is_single = false;
};

class SpecialWords {
 public:
  // A word of the list, or text between two of them.
  struct Part {
    absl::string_view text;
    const SpecialWord* word = nullptr;  // null: text
  };

  void Add(const SpecialWord& word);
  bool empty() const { return words_.empty(); }

  // The parts refer to the text and to the list.
  std::vector<Part> Cut(absl::string_view text) const;

 private:
  const SpecialWord* LongestAt(absl::string_view text, size_t at) const;

  std::vector<SpecialWord> words_;
  // Indices of words by their first byte, the longest first.
  std::array<std::vector<int32_t>, 256> by_first_byte_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_SPECIAL_WORDS_H_

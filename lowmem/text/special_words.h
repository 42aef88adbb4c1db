// Words such as "<|im_start|>" and "[MASK]" that are found in a text before it
// is cut.
//
//   footprint::SpecialWords words;
//   words.Add({"<|im_end|>", 151645, /*is_special=*/true});
//   for (const SpecialWords::Part& part : words.Cut("Hi<|im_end|>")) ...
//
// At each position only the longest word that begins there can match. If that
// word must stand alone and does not, no word matches there. A word may begin
// within the whitespace that the word before it took. All of this is as in
// Hugging Face's library. Thread-compatible, and thread-safe once all words are
// added. Memory: the words, 6 KiB, and 24 bytes a part. Time: at each position,
// the comparisons with all words that begin with its byte.

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
  // Marks a control word, which is not part of the text that is shown.
  bool is_special = false;
  // Whether the word takes the whitespace before it, and after it.
  bool takes_left = false;
  bool takes_right = false;
  // The word matches only if no letter of a word stands directly before or
  // after it.
  bool is_single = false;
};

class SpecialWords {
 public:
  // A word of the list, or the text between two such words.
  struct Part {
    absl::string_view text;
    const SpecialWord* word = nullptr;  // null: text
  };

  // Adds a word; one without content is left out. Parts of earlier Cuts become
  // invalid.
  void Add(const SpecialWord& word);
  bool empty() const { return words_.empty(); }

  // Cuts the text into words and the texts between them. The parts refer to the
  // text and to the list.
  std::vector<Part> Cut(absl::string_view text) const;

 private:
  const SpecialWord* LongestAt(absl::string_view text, size_t at) const;

  std::vector<SpecialWord> words_;
  // Indices of words by their first byte, the longest first.
  std::array<std::vector<int32_t>, 256> by_first_byte_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_SPECIAL_WORDS_H_

#include "footprint/lowmem/text/special_words.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

// Return the first or the last character, or nothing if the text is empty.
absl::optional<int32_t> First(absl::string_view text) {
  if (text.empty()) return absl::nullopt;
  return TakeCharacter(&text);
}
absl::optional<int32_t> Last(absl::string_view text) {
  if (text.empty()) return absl::nullopt;
  size_t begin = text.size() - 1;
  while (begin > 0 &&
         (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) {
    --begin;
  }
  return First(text.substr(begin));
}

size_t CharacterBytes(int32_t character) {
  std::string bytes;
  AppendCharacter(character, &bytes);
  return bytes.size();
}

bool StandsAlone(absl::string_view text, size_t begin, size_t end) {
  const auto is_of_word = [](absl::optional<int32_t> character) {
    return character.has_value() && IsWordCharacter(*character);
  };
  return !is_of_word(Last(text.substr(0, begin))) &&
         !is_of_word(First(text.substr(end)));
}

bool IsSpace(absl::optional<int32_t> character) {
  return character.has_value() && IsWhitespace(*character);
}

}  // namespace

void SpecialWords::Add(const SpecialWord& word) {
  if (word.content.empty()) return;
  auto& list = by_first_byte_[static_cast<unsigned char>(word.content[0])];
  const auto is_longer = [this](int32_t index, size_t size) {
    return words_[index].content.size() >= size;
  };
  const auto place = std::lower_bound(list.begin(), list.end(),
                                      word.content.size(), is_longer);
  list.insert(place, static_cast<int32_t>(words_.size()));
  words_.push_back(word);
}

const SpecialWord* SpecialWords::LongestAt(absl::string_view text,
                                           size_t at) const {
  for (const int32_t index :
       by_first_byte_[static_cast<unsigned char>(text[at])]) {
    const SpecialWord& word = words_[index];
    if (absl::StartsWith(text.substr(at), word.content)) return &word;
  }
  return nullptr;
}

std::vector<SpecialWords::Part> SpecialWords::Cut(
    absl::string_view text) const {
  std::vector<Part> parts;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const SpecialWord* const word = LongestAt(text, at);
    if (word == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + word->content.size();
    at = end;
    if (word->is_single && !StandsAlone(text, begin, end)) continue;
    while (word->takes_left && begin > done &&
           IsSpace(Last(text.substr(0, begin)))) {
      begin -= CharacterBytes(*Last(text.substr(0, begin)));
    }
    while (word->takes_right && IsSpace(First(text.substr(end)))) {
      end += CharacterBytes(*First(text.substr(end)));
    }
    // The word before may have taken this word's whitespace.
    if (word->takes_left) begin = std::max(begin, done);
    if (begin >= end) continue;
    if (begin > done) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), word});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
  return parts;
}

}  // namespace footprint

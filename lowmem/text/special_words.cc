#include "footprint/lowmem/text/special_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace footprint {
namespace {

bool IsOfWord(char byte) {
  return absl::ascii_isalnum(static_cast<unsigned char>(byte)) || byte == '_' ||
         static_cast<unsigned char>(byte) >= 0x80;
}

bool StandsAlone(absl::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !IsOfWord(text[begin - 1])) &&
         (end == text.size() || !IsOfWord(text[end]));
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
    if (!absl::StartsWith(text.substr(at), word.content)) continue;
    if (word.is_single && !StandsAlone(text, at, at + word.content.size())) {
      continue;
    }
    return &word;
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
    const auto is_space = [&](size_t place) {
      return absl::ascii_isspace(static_cast<unsigned char>(text[place]));
    };
    while (word->takes_left && begin > done && is_space(begin - 1)) --begin;
    while (word->takes_right && end < text.size() && is_space(end)) ++end;
    if (begin > done) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), word});
    done = end;
    at = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
  return parts;
}

}  // namespace footprint

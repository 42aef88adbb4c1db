#include "footprint/lowmem/text/word_piece_model.h"

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

int64_t CountCharacters(absl::string_view text) {
  int64_t count = 0;
  for (; !text.empty(); ++count) TakeCharacter(&text);
  return count;
}

bool BeginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

}  // namespace

int32_t WordPieceModel::TakeLongest(bool is_first,
                                    absl::string_view* text) const {
  const std::string whole =
      is_first ? std::string(*text)
               : absl::StrCat(options_.continuing_prefix, *text);
  const size_t prefix_bytes = whole.size() - text->size();
  const std::vector<uint16_t>& sizes = words_->sizes();
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    if (*size > whole.size() || *size <= prefix_bytes) continue;
    const size_t end = *size - prefix_bytes;
    // Cuts are allowed only between characters.
    if (end < text->size() && !BeginsCharacter((*text)[end])) continue;
    const absl::optional<int32_t> id =
        words_->Find(absl::string_view(whole).substr(0, *size));
    if (!id.has_value()) continue;
    text->remove_prefix(end);
    return *id;
  }
  return -1;
}

void WordPieceModel::Encode(absl::string_view word,
                            std::vector<int32_t>* ids) const {
  if (CountCharacters(word) > options_.most_characters) {
    ids->push_back(options_.unknown);
    return;
  }
  const size_t begin = ids->size();
  for (absl::string_view rest = word; !rest.empty();) {
    const int32_t id = TakeLongest(rest.size() == word.size(), &rest);
    if (id < 0) {
      ids->resize(begin);
      ids->push_back(options_.unknown);
      return;
    }
    ids->push_back(id);
  }
}

}  // namespace footprint

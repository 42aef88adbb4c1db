#include "footprint/lowmem/text/text_stream.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

// Returns how many bytes at the end may be the beginning of an incomplete
// character.
size_t UnfinishedBytes(absl::string_view text) {
  const size_t most = std::min<size_t>(3, text.size());
  for (size_t count = 1; count <= most; ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t bytes = byte >= 0xf0   ? 4
                         : byte >= 0xe0 ? 3
                         : byte >= 0xc0 ? 2
                                        : 1;
    return bytes > count ? count : 0;
  }
  return 0;
}

// Returns the text with U+FFFD for each byte that is not part of a character.
std::string Mended(absl::string_view text) {
  std::string mended;
  while (!text.empty()) AppendCharacter(TakeCharacter(&text), &mended);
  return mended;
}

}  // namespace

std::string TextStream::Add(int32_t id) {
  ids_.push_back(id);
  const std::string text = tokenizer_->Decode(ids_, SpecialIds::kLeaveOut);
  const size_t certain = text.size() - UnfinishedBytes(text);
  if (certain <= shown_) return "";
  const std::string added = text.substr(shown_, certain - shown_);
  shown_ = certain;
  if (certain == text.size()) Forget();
  return Mended(added);
}

// The text of an id depends on no more than a few ids before it (a space at the
// beginning, a suffix of a word, the bytes of a character). So at least
// kKeptIds ids stay, and no character was incomplete before the first of them.
void TextStream::Forget() {
  constexpr size_t kKeptIds = 32;
  if (ids_.size() < whole_ids_ + kKeptIds) return;
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<int64_t>(whole_ids_));
  whole_ids_ = ids_.size();
  shown_ = tokenizer_->Decode(ids_, SpecialIds::kLeaveOut).size();
}

std::string TextStream::Finish() {
  const std::string text = tokenizer_->Decode(ids_, SpecialIds::kLeaveOut);
  const std::string rest =
      text.size() > shown_ ? text.substr(shown_) : std::string();
  ids_.clear();
  shown_ = 0;
  whole_ids_ = 0;
  return Mended(rest);
}

}  // namespace footprint

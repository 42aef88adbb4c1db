#include "footprint/lowmem/text/merge_table.h"

#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int32_t kFree = -1;
constexpr uint32_t kLengthBits = 8;
constexpr size_t kLongestLeft = (1u << kLengthBits) - 1;

size_t LeftBytes(uint32_t merge) { return merge & kLongestLeft; }
int32_t MergedId(uint32_t merge) {
  return static_cast<int32_t>(merge >> kLengthBits);
}

}  // namespace

absl::Status MergeTable::Add(absl::string_view left, absl::string_view right) {
  const std::string both = absl::StrCat(left, right);
  const absl::optional<int32_t> id = words_->Find(both);
  for (const absl::string_view part : {left, right}) {
    if (words_->Find(part).has_value()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "merge ", size(), " is of a word that the vocabulary does not have"));
  }
  if (!id.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "merge ", size(), " makes a word that the vocabulary does not have"));
  }
  if (left.size() > kLongestLeft) {
    return absl::InvalidArgumentError(
        absl::StrCat("merge ", size(), " is of a word of ", left.size(),
                     " bytes; ", kLongestLeft, " are possible"));
  }
  merges_.push_back(static_cast<uint32_t>(*id) << kLengthBits |
                    static_cast<uint32_t>(left.size()));
  return absl::OkStatus();
}

absl::Status MergeTable::Index() {
  merges_.shrink_to_fit();
  slots_.assign(merges_.size() + merges_.size() / 5 + 1, kFree);
  for (size_t rank = 0; rank < merges_.size(); ++rank) {
    const absl::string_view word = Word(merges_[rank]);
    const size_t cut = LeftBytes(merges_[rank]);
    const size_t slot = Slot(word.substr(0, cut), word.substr(cut));
    if (slots_[slot] == kFree) slots_[slot] = static_cast<int32_t>(rank);
  }
  return absl::OkStatus();
}

absl::string_view MergeTable::Word(uint32_t merge) const {
  return words_->word(MergedId(merge));
}

size_t MergeTable::Slot(absl::string_view left, absl::string_view right) const {
  const auto is_same = [&](uint32_t merge) {
    const absl::string_view word = Word(merge);
    return LeftBytes(merge) == left.size() &&
           word.size() == left.size() + right.size() &&
           word.substr(0, left.size()) == left &&
           word.substr(left.size()) == right;
  };
  size_t slot = absl::Hash<std::pair<absl::string_view, absl::string_view>>()(
                    {left, right}) %
                slots_.size();
  while (slots_[slot] != kFree && !is_same(merges_[slots_[slot]])) {
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return slot;
}

absl::optional<Merge> MergeTable::Find(int32_t left, int32_t right) const {
  if (merges_.empty()) return absl::nullopt;
  const int32_t rank = slots_[Slot(words_->word(left), words_->word(right))];
  if (rank == kFree) return absl::nullopt;
  return Merge{rank, MergedId(merges_[rank])};
}

int64_t MergeTable::memory_bytes() const {
  return static_cast<int64_t>(merges_.capacity() * sizeof(uint32_t) +
                              slots_.capacity() * sizeof(int32_t));
}

}  // namespace footprint

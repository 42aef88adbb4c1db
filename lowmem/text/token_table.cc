#include "footprint/lowmem/text/token_table.h"

#include <limits>
#include <set>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kMostIds = 1 << 24;
constexpr int32_t kFree = -1;

}  // namespace

absl::Status TokenTable::Add(int64_t id, absl::string_view word) {
  if (id < 0 || id >= kMostIds) {
    return absl::InvalidArgumentError(
        absl::StrCat("id ", id, " is not within 0 and ", kMostIds - 1));
  }
  if (word.empty() || word.size() > std::numeric_limits<uint16_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the word of id ", id, " has ", word.size(), " bytes"));
  }
  const auto index = static_cast<size_t>(id);
  if (index >= begins_.size()) {
    begins_.resize(index + 1, 0);
    lengths_.resize(index + 1, 0);
  }
  if (lengths_[index] > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("id ", id, " has two words"));
  }
  if (bytes_.size() + word.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError("the words have more than 4 GiB");
  }
  begins_[index] = static_cast<uint32_t>(bytes_.size());
  lengths_[index] = static_cast<uint16_t>(word.size());
  bytes_.append(word.data(), word.size());
  return absl::OkStatus();
}

absl::Status TokenTable::Index(Repeated repeated) {
  bytes_.shrink_to_fit();
  begins_.shrink_to_fit();
  lengths_.shrink_to_fit();
  // A fifth of the slots stays free, so that a search ends soon.
  slots_.assign(begins_.size() + begins_.size() / 4 + 1, kFree);
  for (int32_t id = 0; id < size(); ++id) {
    if (lengths_[id] == 0) continue;
    const size_t slot = Slot(word(id));
    if (slots_[slot] != kFree && repeated == Repeated::kRefused) {
      return absl::InvalidArgumentError(absl::StrCat(
          "ids ", slots_[slot], " and ", id, " have the same word"));
    }
    slots_[slot] = id;
  }
  const std::set<uint16_t> sizes(lengths_.begin(), lengths_.end());
  sizes_.assign(sizes.upper_bound(0), sizes.end());
  return absl::OkStatus();
}

size_t TokenTable::Slot(absl::string_view text) const {
  size_t slot = absl::Hash<absl::string_view>()(text) % slots_.size();
  while (slots_[slot] != kFree && word(slots_[slot]) != text) {
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return slot;
}

absl::optional<int32_t> TokenTable::Find(absl::string_view text) const {
  if (slots_.empty()) return absl::nullopt;
  const int32_t id = slots_[Slot(text)];
  if (id == kFree) return absl::nullopt;
  return id;
}

absl::string_view TokenTable::word(int32_t id) const {
  if (id < 0 || id >= size()) return absl::string_view();
  return absl::string_view(bytes_).substr(begins_[id], lengths_[id]);
}

int64_t TokenTable::memory_bytes() const {
  return static_cast<int64_t>(
      bytes_.capacity() + begins_.capacity() * sizeof(uint32_t) +
      (lengths_.capacity() + sizes_.capacity()) * sizeof(uint16_t) +
      slots_.capacity() * sizeof(int32_t));
}

}  // namespace footprint

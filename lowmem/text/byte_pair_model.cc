#include "footprint/lowmem/text/byte_pair_model.h"

#include <queue>
#include <string>
#include <tuple>

#include "absl/strings/str_format.h"
#include "footprint/lowmem/text/byte_alphabet.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

constexpr int32_t kNone = -1;

// A word of the piece, linked to its neighbours.
struct Symbol {
  int32_t id = kNone;  // kNone: joined to the symbol before it
  int32_t previous = kNone;
  int32_t next = kNone;
};

// A pair of neighbours that a merge joins, as it was when the pair was found.
struct Candidate {
  Merge merge;
  int32_t left = 0;  // the index of the left symbol
  int32_t left_id = 0;
  int32_t right_id = 0;
};

// Orders a heap with the lowest rank on top and, within a rank, the leftmost
// pair.
struct IsLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::tie(a.merge.rank, a.left) > std::tie(b.merge.rank, b.left);
  }
};

class Joining {
 public:
  Joining(const std::vector<int32_t>& ids, const MergeTable& merges)
      : merges_(merges), symbols_(ids.size()) {
    const auto count = static_cast<int32_t>(ids.size());
    for (int32_t i = 0; i < count; ++i) {
      symbols_[i] = {ids[i], i - 1, i + 1 == count ? kNone : i + 1};
    }
    for (int32_t i = 0; i + 1 < count; ++i) Consider(i);
  }

  void Run(std::vector<int32_t>* ids) {
    while (!candidates_.empty()) {
      const Candidate candidate = candidates_.top();
      candidates_.pop();
      if (IsThere(candidate)) Join(candidate);
    }
    for (const Symbol& symbol : symbols_) {
      if (symbol.id != kNone) ids->push_back(symbol.id);
    }
  }

 private:
  void Consider(int32_t left) {
    if (left == kNone || symbols_[left].next == kNone) return;
    const int32_t left_id = symbols_[left].id;
    const int32_t right_id = symbols_[symbols_[left].next].id;
    const absl::optional<Merge> merge = merges_.Find(left_id, right_id);
    if (merge.has_value()) {
      candidates_.push({*merge, left, left_id, right_id});
    }
  }

  bool IsThere(const Candidate& candidate) const {
    const Symbol& left = symbols_[candidate.left];
    return left.id == candidate.left_id && left.next != kNone &&
           symbols_[left.next].id == candidate.right_id;
  }

  void Join(const Candidate& candidate) {
    Symbol& left = symbols_[candidate.left];
    Symbol& right = symbols_[left.next];
    left.id = candidate.merge.id;
    right.id = kNone;
    left.next = right.next;
    if (left.next != kNone) symbols_[left.next].previous = candidate.left;
    Consider(left.previous);
    Consider(candidate.left);
  }

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate, std::vector<Candidate>, IsLater> candidates_;
};

}  // namespace

BytePairModel::BytePairModel(const TokenTable* words, const MergeTable* merges,
                             const BytePairOptions& options)
    : words_(words), merges_(merges), options_(options) {
  for (size_t byte = 0; byte < byte_words_.size(); ++byte) {
    const absl::optional<int32_t> id =
        words->Find(absl::StrFormat("<0x%02X>", byte));
    byte_words_[byte] = id.value_or(kNone);
  }
}

bool BytePairModel::AddBytes(absl::string_view character,
                             std::vector<int32_t>* ids) const {
  if (!options_.falls_back_to_bytes) return false;
  const size_t begin = ids->size();
  const std::string letters = options_.begins_with_bytes
                                  ? ToByteAlphabet(character)
                                  : std::string(character);
  for (const char byte : letters) {
    const int32_t id = byte_words_[static_cast<unsigned char>(byte)];
    if (id == kNone) {
      ids->resize(begin);
      return false;
    }
    ids->push_back(id);
  }
  return true;
}

std::vector<int32_t> BytePairModel::Begin(absl::string_view piece) const {
  std::vector<int32_t> ids;
  ids.reserve(piece.size());
  // Hugging Face's library adds an unknown word late: at the next known word,
  // or at the end of the piece.
  bool is_pending = false;
  const auto add_unknown = [&] {
    if (is_pending) ids.push_back(*options_.unknown);
    is_pending = false;
  };
  while (!piece.empty()) {
    absl::string_view rest = piece;
    if (options_.begins_with_bytes) {
      rest.remove_prefix(1);
    } else {
      TakeCharacter(&rest);
    }
    const absl::string_view first = piece.substr(0, piece.size() - rest.size());
    piece = rest;
    const absl::optional<int32_t> id = words_->Find(first);
    if (id.has_value()) {
      add_unknown();
      ids.push_back(*id);
    } else if (!AddBytes(first, &ids) && options_.unknown.has_value()) {
      if (!options_.fuses_unknown) add_unknown();
      is_pending = true;
    }
  }
  add_unknown();
  return ids;
}

void BytePairModel::Encode(absl::string_view piece,
                           std::vector<int32_t>* ids) const {
  if (options_.takes_whole_words) {
    const absl::optional<int32_t> id = words_->Find(piece);
    if (id.has_value()) {
      ids->push_back(*id);
      return;
    }
  }
  Joining(Begin(piece), *merges_).Run(ids);
}

}  // namespace footprint

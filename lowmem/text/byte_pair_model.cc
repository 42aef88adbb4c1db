#include "footprint/lowmem/text/byte_pair_model.h"

#include <queue>
#include <tuple>

#include "absl/strings/str_format.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

constexpr int32_t kNone = -1;

// A word of the piece, in a list of its neighbours.
struct Symbol {
  int32_t id = kNone;  // kNone: it was joined to the one before it
  int32_t previous = kNone;
  int32_t next = kNone;
};

// A pair that a merge joins, as it was when it was found.
struct Candidate {
  Merge merge;
  int32_t left = 0;  // the symbol
  int32_t left_id = 0;
  int32_t right_id = 0;
};

// The most urgent merge is on top, of equal ones the leftmost.
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
    has_all_byte_words_ &= id.has_value();
  }
}

void BytePairModel::AddUnknown(absl::string_view character,
                               std::vector<int32_t>* ids) const {
  if (options_.falls_back_to_bytes && has_all_byte_words_) {
    for (const char byte : character) {
      ids->push_back(byte_words_[static_cast<unsigned char>(byte)]);
    }
    return;
  }
  if (!options_.unknown.has_value()) return;
  const bool is_again = !ids->empty() && ids->back() == *options_.unknown;
  if (!(options_.fuses_unknown && is_again)) ids->push_back(*options_.unknown);
}

std::vector<int32_t> BytePairModel::Begin(absl::string_view piece) const {
  std::vector<int32_t> ids;
  ids.reserve(piece.size());
  while (!piece.empty()) {
    absl::string_view rest = piece;
    if (options_.begins_with_bytes) {
      rest.remove_prefix(1);
    } else {
      TakeCharacter(&rest);
    }
    const absl::string_view first = piece.substr(0, piece.size() - rest.size());
    const absl::optional<int32_t> id = words_->Find(first);
    if (id.has_value()) {
      ids.push_back(*id);
    } else {
      AddUnknown(first, &ids);
    }
    piece = rest;
  }
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

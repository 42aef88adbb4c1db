#include "footprint/lowmem/text/unigram_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

constexpr double kUnknownPenalty = 10;
constexpr int32_t kUnknown = -1;

}  // namespace

UnigramModel::UnigramModel(const TokenTable* words, std::vector<double> scores,
                           const UnigramOptions& options)
    : words_(words), scores_(std::move(scores)), options_(options) {
  double least = 0;
  for (size_t i = 0; i < scores_.size(); ++i) {
    least = i == 0 ? scores_[i] : std::min(least, scores_[i]);
  }
  unknown_score_ = least - kUnknownPenalty;
}

std::vector<UnigramModel::Step> UnigramModel::FindWay(
    absl::string_view piece) const {
  std::vector<Step> way(piece.size() + 1);
  for (size_t begin = 0; begin < piece.size();) {
    absl::string_view rest = piece.substr(begin);
    TakeCharacter(&rest);
    const size_t character_end = piece.size() - rest.size();
    const auto consider = [&](size_t end, double score, int32_t id) {
      const double whole = way[begin].score + score;
      if (way[end].begin < 0 || whole > way[end].score) {
        way[end] = {whole, id, static_cast<int64_t>(begin)};
      }
    };
    bool is_known = false;
    for (const size_t size : words_->sizes()) {
      const size_t end = begin + size;
      if (end > piece.size()) break;
      const absl::optional<int32_t> id =
          words_->Find(piece.substr(begin, size));
      if (!id.has_value()) continue;
      // The unknown word itself is also joined with unknown characters.
      consider(end, scores_[*id], id == options_.unknown ? kUnknown : *id);
      is_known |= end == character_end;
    }
    if (!is_known) consider(character_end, unknown_score_, kUnknown);
    begin = character_end;
  }
  return way;
}

void UnigramModel::AddUnknown(absl::string_view text,
                              std::vector<int32_t>* ids) const {
  const absl::optional<int32_t> whole = words_->Find(text);
  if (whole.has_value()) {
    ids->push_back(*whole);
    return;
  }
  if (options_.falls_back_to_bytes) {
    std::vector<int32_t> bytes;
    for (const char byte : text) {
      const absl::optional<int32_t> id = words_->Find(
          absl::StrFormat("<0x%02X>", static_cast<unsigned char>(byte)));
      if (id.has_value()) bytes.push_back(*id);
    }
    if (bytes.size() == text.size()) {
      ids->insert(ids->end(), bytes.begin(), bytes.end());
      return;
    }
  }
  if (options_.unknown.has_value()) ids->push_back(*options_.unknown);
}

void UnigramModel::Encode(absl::string_view piece,
                          std::vector<int32_t>* ids) const {
  const std::vector<Step> way = FindWay(piece);
  // Follows the steps back from the end. Adjacent unknown characters become one
  // word.
  std::vector<std::pair<int32_t, absl::string_view>> words;
  for (size_t end = piece.size(); end > 0;) {
    const Step& step = way[end];
    const auto begin = static_cast<size_t>(step.begin);
    const bool joins =
        step.id == kUnknown && !words.empty() && words.back().first == kUnknown;
    if (joins) {
      words.back().second =
          piece.substr(begin, end - begin + words.back().second.size());
    } else {
      words.emplace_back(step.id, piece.substr(begin, end - begin));
    }
    end = begin;
  }
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (word->first == kUnknown) {
      AddUnknown(word->second, ids);
    } else {
      ids->push_back(word->first);
    }
  }
}

}  // namespace footprint

#include "footprint/lowmem/text/piece_splitter.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/lowmem/text/byte_alphabet.h"
#include "footprint/lowmem/text/json_pattern.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

// GPT-2's pattern, which "use_regex" selects.
constexpr char kGpt2Pattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Says what happens to a match.
enum class Behavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

absl::StatusOr<Behavior> ParseBehavior(const std::string& name) {
  if (name == "Removed") return Behavior::kRemoved;
  if (name == "Isolated") return Behavior::kIsolated;
  if (name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::kMergedWithNext;
  if (name == "Contiguous") return Behavior::kContiguous;
  return absl::UnimplementedError(absl::StrCat(
      "behavior \"", name,
      "\" is unknown; known are Removed, Isolated, MergedWithPrevious, "
      "MergedWithNext and Contiguous"));
}

// Returns whether the part continues the piece before it.
bool Joins(Behavior behavior, const TextPart& previous, const TextPart& part) {
  switch (behavior) {
    case Behavior::kMergedWithPrevious:
      return part.is_match && !previous.is_match;
    case Behavior::kMergedWithNext:
      return previous.is_match && !part.is_match;
    case Behavior::kContiguous:
      return part.is_match == previous.is_match;
    case Behavior::kRemoved:
    case Behavior::kIsolated:
      break;
  }
  return false;
}

void AddParts(const std::vector<TextPart>& parts, Behavior behavior,
              std::vector<std::string>* pieces) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (behavior == Behavior::kRemoved && parts[i].is_match) continue;
    if (i > 0 && Joins(behavior, parts[i - 1], parts[i])) {
      absl::StrAppend(&pieces->back(), parts[i].text);
    } else {
      pieces->emplace_back(parts[i].text);
    }
  }
}

// Cuts at whitespace, which is dropped, and around punctuation.
void AddBertPieces(absl::string_view text, std::vector<std::string>* pieces) {
  bool goes_on = false;
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    if (IsWhitespace(character)) {
      goes_on = false;
      continue;
    }
    const bool is_sign = IsPunctuation(character);
    if (is_sign || !goes_on) pieces->emplace_back();
    AppendCharacter(character, &pieces->back());
    goes_on = !is_sign;
  }
}

void AddDigitPieces(absl::string_view text, bool one_by_one,
                    std::vector<std::string>* pieces) {
  bool was_number = false;
  bool is_begin = true;
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    const bool is_number = IsNumber(character);
    if (is_begin || is_number != was_number || (is_number && one_by_one)) {
      pieces->emplace_back();
    }
    AppendCharacter(character, &pieces->back());
    was_number = is_number;
    is_begin = false;
  }
}

}  // namespace

absl::StatusOr<PieceSplitter> PieceSplitter::Parse(const nlohmann::json& json) {
  PieceSplitter splitter;
  if (json.is_null()) return splitter;
  const absl::Status status = splitter.Add(json);
  if (!status.ok()) return status;
  return splitter;
}

absl::Status PieceSplitter::AddStep(absl::StatusOr<TextPattern> pattern,
                                    const std::string& behavior, bool inverts) {
  if (!pattern.ok()) return pattern.status();
  const absl::StatusOr<Behavior> known = ParseBehavior(behavior);
  if (!known.ok()) return known.status();
  steps_.push_back([pattern = *std::move(pattern), behavior = *known, inverts](
                       const std::string& text, bool, Pieces* pieces) {
    absl::StatusOr<std::vector<TextPart>> parts = pattern.Cut(text);
    if (!parts.ok()) return parts.status();
    for (TextPart& part : *parts) part.is_match = part.is_match != inverts;
    AddParts(*parts, behavior, pieces);
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::Status PieceSplitter::AddSplit(const nlohmann::json& json) {
  return AddStep(ParseJsonPattern(JsonMember(json, "pattern")),
                 JsonTextOr(json, "behavior", ""),
                 JsonFlagOr(json, "invert", false));
}

absl::Status PieceSplitter::AddPattern(const char* pattern,
                                       const char* behavior) {
  return AddStep(TextPattern::Compile(pattern), behavior, /*inverts=*/false);
}

// Steps after ByteLevel, such as Falcon's Digits, see the letters of its
// alphabet.
absl::Status PieceSplitter::EnterAlphabet(const std::string& type) {
  if (type == "ByteLevel" || type == "Metaspace") {
    return absl::UnimplementedError(absl::StrCat(
        "pre_tokenizer \"", type, "\" after \"ByteLevel\" is unknown"));
  }
  if (is_in_alphabet_) return absl::OkStatus();
  is_in_alphabet_ = true;
  steps_.push_back([](const std::string& text, bool, Pieces* pieces) {
    pieces->push_back(ToByteAlphabet(text));
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::Status PieceSplitter::AddByteLevel(const nlohmann::json& json) {
  is_byte_level_ = true;
  if (JsonFlagOr(json, "add_prefix_space", true)) {
    steps_.push_back([](const std::string& text, bool, Pieces* pieces) {
      pieces->push_back(absl::StartsWith(text, " ") ? text : " " + text);
      return absl::OkStatus();
    });
  }
  if (!JsonFlagOr(json, "use_regex", true)) return absl::OkStatus();
  return AddPattern(kGpt2Pattern, "Isolated");
}

absl::Status PieceSplitter::AddMetaspace(const nlohmann::json& json) {
  const std::string mark = JsonTextOr(json, "replacement", "\xe2\x96\x81");
  const std::string scheme = JsonTextOr(
      json, "prepend_scheme",
      JsonFlagOr(json, "add_prefix_space", true) ? "always" : "never");
  steps_.push_back([mark, scheme](const std::string& text, bool is_first,
                                  Pieces* pieces) {
    std::string marked = absl::StrReplaceAll(text, {{" ", mark}});
    const bool prepends = scheme == "always" || (scheme == "first" && is_first);
    if (prepends && !absl::StartsWith(marked, mark)) marked = mark + marked;
    pieces->push_back(std::move(marked));
    return absl::OkStatus();
  });
  if (!JsonFlagOr(json, "split", true)) return absl::OkStatus();
  return AddStep(TextPattern::Literal(mark), "MergedWithNext",
                 /*inverts=*/false);
}

absl::Status PieceSplitter::Add(const nlohmann::json& json) {
  const std::string type = JsonTextOr(json, "type", "");
  if (type == "Sequence") {
    for (const nlohmann::json& step : JsonMember(json, "pretokenizers")) {
      const absl::Status status = Add(step);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (is_byte_level_) {
    const absl::Status status = EnterAlphabet(type);
    if (!status.ok()) return status;
  }
  if (type == "Split") return AddSplit(json);
  if (type == "ByteLevel") return AddByteLevel(json);
  if (type == "Metaspace") return AddMetaspace(json);
  if (type == "Whitespace") {
    // Words include the two joiners, U+200C and U+200D.
    return AddStep(TextPattern::Compile(R"([[:word:]\x{200c}\x{200d}]+|)"
                                        R"([^[:word:]\s\x{200c}\x{200d}]+)"),
                   "Removed", /*inverts=*/true);
  }
  if (type == "WhitespaceSplit") return AddPattern(R"(\s)", "Removed");
  if (type == "Punctuation") {
    return AddStep(TextPattern::Compile(R"([\p{P}$+<=>^`|~])"),
                   JsonTextOr(json, "behavior", "Isolated"),
                   /*inverts=*/false);
  }
  if (type == "BertPreTokenizer") {
    steps_.push_back([](const std::string& text, bool, Pieces* pieces) {
      AddBertPieces(text, pieces);
      return absl::OkStatus();
    });
    return absl::OkStatus();
  }
  if (type == "Digits") {
    const bool one_by_one = JsonFlagOr(json, "individual_digits", false);
    steps_.push_back(
        [one_by_one](const std::string& text, bool, Pieces* pieces) {
          AddDigitPieces(text, one_by_one, pieces);
          return absl::OkStatus();
        });
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "pre_tokenizer \"", type,
      "\" is unknown; known are Sequence, Split, ByteLevel, BertPreTokenizer, "
      "Digits, Metaspace, Punctuation, Whitespace and WhitespaceSplit"));
}

absl::StatusOr<std::vector<std::string>> PieceSplitter::Split(
    absl::string_view text, bool is_first) const {
  Pieces pieces;
  if (!text.empty()) pieces.emplace_back(text);
  for (const Step& step : steps_) {
    Pieces next;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const absl::Status status = step(pieces[i], is_first && i == 0, &next);
      if (!status.ok()) return status;
    }
    next.erase(std::remove(next.begin(), next.end(), ""), next.end());
    pieces = std::move(next);
  }
  if (is_in_alphabet_) {
    for (std::string& piece : pieces) piece = *FromByteAlphabet(piece);
  }
  return pieces;
}

}  // namespace footprint

#include "footprint/lowmem/text/text_normalizer.h"

#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/text/character_map.h"
#include "footprint/lowmem/text/json_pattern.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

std::string Without(bool (*is_dropped)(int32_t), absl::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    if (!is_dropped(character)) AppendCharacter(character, &kept);
  }
  return kept;
}

// BERT drops only the accents that decomposition separates from letters. The
// StripAccents step drops all marks.
std::string WithoutAccents(const std::string& text) {
  return Without(IsNonspacingMark, ToNormalForm(NormalForm::kNfd, text));
}

std::string WithoutMarks(const std::string& text) {
  return Without(IsMark, text);
}

// Drops control characters, and replaces each whitespace character by a space.
std::string Cleaned(absl::string_view text) {
  constexpr int32_t kReplacement = 0xfffd;
  std::string clean;
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    if (character == 0 || character == kReplacement || IsControl(character)) {
      continue;
    }
    if (IsWhitespace(character)) {
      clean += ' ';
    } else {
      AppendCharacter(character, &clean);
    }
  }
  return clean;
}

// SentencePiece's rules for machine translation: some control characters are
// removed, and other invisible ones become spaces.
std::string ForTranslation(absl::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const int32_t c = TakeCharacter(&text);
    const bool is_dropped = (c >= 0x1 && c <= 0x8) || c == 0xb ||
                            (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f ||
                            c == 0x9f;
    if (is_dropped) continue;
    const bool is_space = c == 0x9 || c == 0xa || c == 0xc || c == 0xd ||
                          c == 0x1680 || (c >= 0x200b && c <= 0x200f) ||
                          c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                          c == 0xfeff || c == 0xfffd;
    AppendCharacter(is_space ? ' ' : c, &clean);
  }
  return clean;
}

std::string WithSpacesAroundIdeographs(absl::string_view text) {
  std::string spaced;
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    const char* const space = IsCjkIdeograph(character) ? " " : "";
    spaced += space;
    AppendCharacter(character, &spaced);
    spaced += space;
  }
  return spaced;
}

std::string Stripped(absl::string_view text, bool left, bool right) {
  const absl::string_view whole = text;
  size_t begin = whole.size();
  size_t end = 0;
  while (!text.empty()) {
    const size_t at = whole.size() - text.size();
    if (IsWhitespace(TakeCharacter(&text))) continue;
    if (begin == whole.size()) begin = at;
    end = whole.size() - text.size();
  }
  if (!left) begin = 0;
  if (!right) end = whole.size();
  return begin < end ? std::string(whole.substr(begin, end - begin)) : "";
}

}  // namespace

absl::StatusOr<TextNormalizer> TextNormalizer::Parse(
    const nlohmann::json& json) {
  TextNormalizer normalizer;
  if (json.is_null()) return normalizer;
  const absl::Status status = normalizer.Add(json);
  if (!status.ok()) return status;
  return normalizer;
}

absl::Status TextNormalizer::AddReplace(const nlohmann::json& json) {
  absl::StatusOr<TextPattern> pattern =
      ParseJsonPattern(JsonMember(json, "pattern"));
  if (!pattern.ok()) return pattern.status();
  const std::string content = JsonTextOr(json, "content", "");
  steps_.push_back([pattern = *std::move(pattern), content](
                       const std::string& text) -> absl::StatusOr<std::string> {
    const auto parts = pattern.Cut(text);
    if (!parts.ok()) return parts.status();
    std::string replaced;
    for (const TextPart& part : *parts) {
      absl::StrAppend(&replaced, part.is_match ? content : part.text);
    }
    return replaced;
  });
  return absl::OkStatus();
}

absl::Status TextNormalizer::AddMap(const nlohmann::json& json) {
  std::string bytes;
  if (!absl::Base64Unescape(JsonTextOr(json, "precompiled_charsmap", ""),
                            &bytes)) {
    return absl::InvalidArgumentError("precompiled_charsmap is not base64");
  }
  // Some models have an empty map.
  if (bytes.empty()) return absl::OkStatus();
  absl::StatusOr<CharacterMap> map = CharacterMap::Parse(bytes);
  if (!map.ok()) return map.status();
  steps_.push_back([map = *std::move(map)](const std::string& text) {
    return map.Apply(text);
  });
  return absl::OkStatus();
}

void TextNormalizer::AddBert(const nlohmann::json& json) {
  const bool lowers = JsonFlagOr(json, "lowercase", true);
  // By default, accents are stripped if and only if the text is lowercased.
  const bool strips = JsonFlagOr(json, "strip_accents", lowers);
  if (JsonFlagOr(json, "clean_text", true)) steps_.push_back(Cleaned);
  if (JsonFlagOr(json, "handle_chinese_chars", true)) {
    steps_.push_back(WithSpacesAroundIdeographs);
  }
  if (strips) {
    steps_.push_back(WithoutAccents);
  }
  if (lowers) steps_.push_back(ToLowerCase);
}

absl::Status TextNormalizer::Add(const nlohmann::json& json) {
  struct Form {
    const char* type;
    NormalForm form;
  };
  constexpr Form kForms[] = {{"NFC", NormalForm::kNfc},
                             {"NFD", NormalForm::kNfd},
                             {"NFKC", NormalForm::kNfkc},
                             {"NFKD", NormalForm::kNfkd}};
  const std::string type = JsonTextOr(json, "type", "");
  // Looks for the normal forms of Unicode.
  for (const Form& form : kForms) {
    if (type != form.type) continue;
    steps_.push_back([form = form.form](const std::string& text) {
      return ToNormalForm(form, text);
    });
    return absl::OkStatus();
  }
  // Looks for the other types. A Sequence adds its steps one after the other.
  if (type == "Sequence") {
    for (const nlohmann::json& step : JsonMember(json, "normalizers")) {
      const absl::Status status = Add(step);
      if (!status.ok()) return status;
    }
  } else if (type == "Nmt") {
    steps_.push_back(ForTranslation);
  } else if (type == "Lowercase") {
    steps_.push_back(ToLowerCase);
  } else if (type == "StripAccents") {
    steps_.push_back(WithoutMarks);
  } else if (type == "Strip") {
    const bool left = JsonFlagOr(json, "strip_left", true);
    const bool right = JsonFlagOr(json, "strip_right", true);
    steps_.push_back([left, right](const std::string& text) {
      return Stripped(text, left, right);
    });
  } else if (type == "Replace") {
    return AddReplace(json);
  } else if (type == "Prepend") {
    steps_.push_back(
        [prefix = JsonTextOr(json, "prepend", "")](const std::string& text) {
          return text.empty() ? text : prefix + text;
        });
  } else if (type == "Precompiled") {
    return AddMap(json);
  } else if (type == "BertNormalizer") {
    AddBert(json);
  } else {
    return absl::UnimplementedError(absl::StrCat(
        "normalizer \"", type,
        "\" is unknown; known are Sequence, NFC, NFD, NFKC, NFKD, Nmt, "
        "Lowercase, StripAccents, Strip, Replace, Prepend, BertNormalizer and "
        "Precompiled"));
  }
  return absl::OkStatus();
}

bool TextNormalizer::DropsBeginning(absl::string_view text) const {
  if (text.empty() || steps_.empty()) return false;
  absl::string_view rest = text;
  TakeCharacter(&rest);
  // A letter takes the place of the rest, so that no step finds the text's end
  // there.
  const auto with =
      Apply(absl::StrCat(text.substr(0, text.size() - rest.size()), "x"));
  const auto without = Apply("x");
  return with.ok() && without.ok() && *with == *without;
}

absl::StatusOr<std::string> TextNormalizer::Apply(
    absl::string_view text) const {
  std::string normal(text);
  for (const Step& step : steps_) {
    absl::StatusOr<std::string> next = step(normal);
    if (!next.ok()) return next;
    normal = *std::move(next);
  }
  return normal;
}

}  // namespace footprint

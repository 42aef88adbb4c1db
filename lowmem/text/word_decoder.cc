#include "footprint/lowmem/text/word_decoder.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "footprint/lowmem/text/json_pattern.h"

namespace footprint {
namespace {

// Appends the byte of a word such as "<0xE4>", or returns false for other
// words.
bool TakeByteWord(absl::string_view word, std::string* text) {
  if (word.size() != 6 || !absl::ConsumePrefix(&word, "<0x") ||
      !absl::ConsumeSuffix(&word, ">")) {
    return false;
  }
  for (const char digit : word) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit))) return false;
  }
  *text += absl::HexStringToBytes(word);
  return true;
}

}  // namespace

absl::StatusOr<WordDecoder> WordDecoder::Parse(const nlohmann::json& json) {
  WordDecoder decoder;
  if (json.is_null()) return decoder;
  const absl::Status status = decoder.Add(json);
  if (!status.ok()) return status;
  return decoder;
}

absl::Status WordDecoder::Add(const nlohmann::json& json) {
  const std::string type = JsonTextOr(json, "type", "");
  // A Sequence is the sum of its steps, which set different fields.
  if (type == "Sequence") {
    for (const nlohmann::json& step : JsonMember(json, "decoders")) {
      const absl::Status status = Add(step);
      if (!status.ok()) return status;
    }
  } else if (type == "ByteLevel") {
    kind_ = Kind::kBytes;
  } else if (type == "WordPiece") {
    kind_ = Kind::kWordPieces;
    prefix_ = JsonTextOr(json, "prefix", "##");
    cleans_up_ = JsonFlagOr(json, "cleanup", true);
  } else if (type == "Metaspace") {
    kind_ = Kind::kMarked;
    const std::string mark = JsonTextOr(json, "replacement", "\xe2\x96\x81");
    replacements_.push_back({mark, " "});
    // The encoder put one space before the text unless the scheme is "never".
    const std::string scheme = JsonTextOr(
        json, "prepend_scheme",
        JsonFlagOr(json, "add_prefix_space", true) ? "always" : "never");
    if (scheme != "never") {
      stripped_ = " ";
      most_stripped_ = 1;
    }
  } else if (type == "Replace") {
    kind_ = Kind::kMarked;
    const std::string from =
        JsonTextOr(JsonMember(json, "pattern"), "String", "");
    if (from.empty()) {
      return absl::UnimplementedError(
          "decoder \"Replace\" has no \"String\" to replace");
    }
    replacements_.push_back({from, JsonTextOr(json, "content", "")});
  } else if (type == "ByteFallback") {
    kind_ = Kind::kMarked;
    has_byte_words_ = true;
  } else if (type == "Strip") {
    kind_ = Kind::kMarked;
    stripped_ = JsonTextOr(json, "content", " ");
    const nlohmann::json& stop = JsonMember(json, "stop");
    if (stop.is_number_integer() && stop.get<int64_t>() != 0) {
      return absl::UnimplementedError(
          "decoder \"Strip\" has a \"stop\" other than 0; only words at the "
          "beginning are stripped");
    }
    const nlohmann::json& start = JsonMember(json, "start");
    most_stripped_ = start.is_number_integer() ? start.get<int64_t>() : 0;
  } else if (type != "Fuse") {
    return absl::UnimplementedError(absl::StrCat(
        "decoder \"", type,
        "\" is unknown; known are Sequence, ByteLevel, WordPiece, Metaspace, "
        "Replace, ByteFallback, Fuse and Strip"));
  }
  return absl::OkStatus();
}

std::string WordDecoder::JoinWordPieces(
    const std::vector<absl::string_view>& words) const {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::string_view word = words[i];
    if (i > 0 && !absl::ConsumePrefix(&word, prefix_)) text += ' ';
    // Like Hugging Face's library, cleans up one word at a time.
    std::string added(word);
    if (i > 0 && cleans_up_) {
      const bool is_new = !text.empty() && text.back() == ' ';
      if (is_new) text.pop_back();
      added = absl::StrReplaceAll(is_new ? absl::StrCat(" ", added) : added,
                                  {{" .", "."},
                                   {" ?", "?"},
                                   {" !", "!"},
                                   {" ,", ","},
                                   {" ' ", "'"},
                                   {" n't", "n't"},
                                   {" 'm", "'m"},
                                   {" do not", " don't"},
                                   {" 's", "'s"},
                                   {" 've", "'ve"},
                                   {" 're", "'re"}});
    }
    text += added;
  }
  return text;
}

std::string WordDecoder::JoinMarked(
    const std::vector<absl::string_view>& words) const {
  std::string text;
  for (const absl::string_view word : words) {
    if (has_byte_words_ && TakeByteWord(word, &text)) continue;
    std::string added(word);
    for (const auto& [from, to] : replacements_) {
      added = absl::StrReplaceAll(added, {{from, to}});
    }
    text += added;
  }
  absl::string_view kept = text;
  for (int64_t i = 0; i < most_stripped_ && !stripped_.empty(); ++i) {
    if (!absl::ConsumePrefix(&kept, stripped_)) break;
  }
  return std::string(kept);
}

std::string WordDecoder::Join(
    const std::vector<absl::string_view>& words) const {
  switch (kind_) {
    case Kind::kBytes:
      return absl::StrJoin(words, "");
    case Kind::kWordPieces:
      return JoinWordPieces(words);
    case Kind::kMarked:
      return JoinMarked(words);
    case Kind::kSpaced:
      break;
  }
  return absl::StrJoin(words, " ");
}

}  // namespace footprint

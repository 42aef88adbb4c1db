#include "footprint/lowmem/text/text_pattern.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include "pcre2.h"

namespace footprint {

struct TextPattern::Compiled {
  pcre2_code* code = nullptr;
  std::string literal;  // used where there is no code

  ~Compiled() { pcre2_code_free(code); }
};

namespace {

std::string ErrorText(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// Unicode's White_Space, for within brackets.
constexpr char kWhitespace[] = R"(\t-\r\x{85}\p{Z})";

// The pattern with \s and \S as Unicode and other engines have them: PCRE2's
// would hold U+180E, too.
std::string WithUnicodeWhitespace(absl::string_view pattern) {
  std::string rewritten;
  bool is_in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      if (pattern[i] == '[') is_in_brackets = true;
      if (pattern[i] == ']') is_in_brackets = false;
      rewritten += pattern[i];
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      absl::StrAppend(&rewritten, is_in_brackets ? "" : "[", kWhitespace,
                      is_in_brackets ? "" : "]");
    } else if (escaped == 'S' && !is_in_brackets) {
      absl::StrAppend(&rewritten, "[^", kWhitespace, "]");
    } else if (escaped == 'S') {
      // The same set as classes that may be joined with others.
      rewritten += R"(\x{00}-\x{08}\x{0e}-\x{1f}\x{7f}-\x{84}\x{86}-\x{9f})"
                   R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Cn}\p{Co})";
    } else {
      rewritten += '\\';
      rewritten += escaped;
    }
  }
  return rewritten;
}

// Begins a part where one matches, and ends the one before it.
class Parts {
 public:
  explicit Parts(absl::string_view text) : text_(text) {}

  void AddMatch(size_t begin, size_t end) {
    AddRest(begin);
    parts_.push_back({text_.substr(begin, end - begin), true});
    done_ = end;
  }
  std::vector<TextPart> Finish() {
    AddRest(text_.size());
    return std::move(parts_);
  }

 private:
  void AddRest(size_t end) {
    if (end > done_)
      parts_.push_back({text_.substr(done_, end - done_), false});
  }

  const absl::string_view text_;
  size_t done_ = 0;
  std::vector<TextPart> parts_;
};

std::vector<TextPart> CutLiteral(absl::string_view text,
                                 absl::string_view literal) {
  Parts parts(text);
  for (size_t at = text.find(literal); at != absl::string_view::npos;
       at = text.find(literal, at + literal.size())) {
    parts.AddMatch(at, at + literal.size());
  }
  return parts.Finish();
}

}  // namespace

absl::StatusOr<TextPattern> TextPattern::Compile(absl::string_view pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::string rewritten = WithUnicodeWhitespace(pattern);
  pcre2_code* const code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(rewritten.data()), rewritten.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
      nullptr);
  if (code == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pattern \"", pattern, "\" cannot be used: byte ",
                     offset, ": ", ErrorText(error)));
  }
  auto compiled = std::make_shared<Compiled>();
  compiled->code = code;
  return TextPattern(std::move(compiled));
}

TextPattern TextPattern::Literal(absl::string_view text) {
  auto compiled = std::make_shared<Compiled>();
  compiled->literal = std::string(text);
  return TextPattern(std::move(compiled));
}

absl::StatusOr<std::vector<TextPart>> TextPattern::Cut(
    absl::string_view text) const {
  if (compiled_->code == nullptr) {
    return compiled_->literal.empty() ? Parts(text).Finish()
                                      : CutLiteral(text, compiled_->literal);
  }
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr),
      pcre2_match_data_free);
  if (match == nullptr) return absl::ResourceExhaustedError("no memory");
  Parts parts(text);
  for (size_t begin = 0; begin < text.size();) {
    const int count = pcre2_match(
        compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
        begin, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match.get(), nullptr);
    if (count == PCRE2_ERROR_NOMATCH) break;
    if (count < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the tokenizer's pattern does not end on this text: ",
                       ErrorText(count)));
    }
    const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
    parts.AddMatch(range[0], range[1]);
    begin = range[1];
  }
  return parts.Finish();
}

}  // namespace footprint

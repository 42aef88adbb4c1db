#include "footprint/lowmem/text/text_pattern.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/text/pattern_syntax.h"
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include "pcre2.h"

namespace footprint {

struct TextPattern::Compiled {
  pcre2_code* code = nullptr;
  std::string literal;  // used if `code` is null

  ~Compiled() { pcre2_code_free(code); }
};

namespace {

std::string ErrorText(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// Collects parts: each match ends the part before it and begins its own.
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
  const absl::StatusOr<std::string> translated = ToPcre2Pattern(pattern);
  if (!translated.ok()) return translated.status();
  pcre2_code* const code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
      &offset, nullptr);
  if (code == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pattern \"", pattern, "\" cannot be used: byte ",
                     offset, " of \"", *translated, "\": ", ErrorText(error)));
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
  size_t begin = 0;
  size_t last_end = text.size() + 1;  // end of the match before
  while (begin <= text.size() && !text.empty()) {
    const int count = pcre2_match(
        compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
        begin, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (count == PCRE2_ERROR_NOMATCH) break;
    if (count < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the tokenizer's pattern does not end on this text: ",
                       ErrorText(count)));
    }
    const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
    if (range[0] >= range[1] && range[1] == last_end) {
      // An empty match right after a match does not count. The search continues
      // one character later.
      do {
        ++begin;
      } while (begin < text.size() && (text[begin] & 0xc0) == 0x80);
      continue;
    }
    parts.AddMatch(std::min(range[0], range[1]), range[1]);
    begin = range[1];
    last_end = range[1];
  }
  return parts.Finish();
}

}  // namespace footprint

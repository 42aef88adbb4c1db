#include "footprint/lowmem/text/unicode_text.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "utf8proc.h"

namespace footprint {
namespace {

constexpr int32_t kReplacement = 0xfffd;

const utf8proc_uint8_t* Bytes(absl::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

utf8proc_ssize_t Size(absl::string_view text) {
  return static_cast<utf8proc_ssize_t>(text.size());
}

}  // namespace

absl::Status CheckUtf8(absl::string_view text) {
  for (size_t done = 0; done < text.size();) {
    utf8proc_int32_t character = 0;
    const absl::string_view rest = text.substr(done);
    const utf8proc_ssize_t bytes =
        utf8proc_iterate(Bytes(rest), Size(rest), &character);
    if (bytes < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the text is not UTF-8: byte ", done,
                       " begins no character; convert it first, as by iconv"));
    }
    done += static_cast<size_t>(bytes);
  }
  return absl::OkStatus();
}

int32_t TakeCharacter(absl::string_view* text) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(Bytes(*text), Size(*text), &character);
  text->remove_prefix(bytes < 1 ? 1 : static_cast<size_t>(bytes));
  return bytes < 1 ? kReplacement : character;
}

absl::string_view TakeGrapheme(absl::string_view* text) {
  const absl::string_view whole = *text;
  utf8proc_int32_t state = 0;
  int32_t previous = TakeCharacter(text);
  while (!text->empty()) {
    absl::string_view rest = *text;
    const int32_t next = TakeCharacter(&rest);
    if (utf8proc_grapheme_break_stateful(previous, next, &state)) break;
    previous = next;
    *text = rest;
  }
  return whole.substr(0, whole.size() - text->size());
}

void AppendCharacter(int32_t character, std::string* text) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(character, bytes);
  text->append(reinterpret_cast<const char*>(bytes),
               static_cast<size_t>(count));
}

bool IsWhitespace(int32_t character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return (character >= '\t' && character <= '\r') || character == 0x85;
  }
}

bool IsPunctuation(int32_t character) {
  if (character < 0x80) {
    return (character >= '!' && character <= '/') ||
           (character >= ':' && character <= '@') ||
           (character >= '[' && character <= '`') ||
           (character >= '{' && character <= '~');
  }
  const utf8proc_category_t category = utf8proc_category(character);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool IsControl(int32_t character) {
  if (character == '\t' || character == '\n' || character == '\r') return false;
  const utf8proc_category_t category = utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_CN ||
         (category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO);
}

bool IsNonspacingMark(int32_t character) {
  return utf8proc_category(character) == UTF8PROC_CATEGORY_MN;
}

bool IsMark(int32_t character) {
  const utf8proc_category_t category = utf8proc_category(character);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool IsWordCharacter(int32_t character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  const bool is_joiner = character == 0x200c || character == 0x200d;
  // Letters in circles and squares are symbols, but Unicode calls them
  // alphabetic.
  return is_joiner || (character >= 0x24b6 && character <= 0x24e9) ||
         (character >= 0x1f130 && character <= 0x1f149) ||
         (character >= 0x1f150 && character <= 0x1f169) ||
         (character >= 0x1f170 && character <= 0x1f189);
}

bool IsNumber(int32_t character) {
  const utf8proc_category_t category = utf8proc_category(character);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool IsCjkIdeograph(int32_t character) {
  struct Block {
    int32_t first;
    int32_t last;
  };
  static constexpr Block kBlocks[] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},
                                      {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
                                      {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                      {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  for (const Block& block : kBlocks) {
    if (character >= block.first && character <= block.last) return true;
  }
  return false;
}

std::string ToLowerCase(absl::string_view text) {
  // This is the only character whose lower case has two characters: an i and a
  // dot above.
  constexpr int32_t kDottedCapital = 0x130;
  std::string lower;
  lower.reserve(text.size());
  while (!text.empty()) {
    const int32_t character = TakeCharacter(&text);
    if (character == kDottedCapital) {
      lower += "i\xcc\x87";
    } else {
      AppendCharacter(utf8proc_tolower(character), &lower);
    }
  }
  return lower;
}

std::string ToNormalForm(NormalForm form, absl::string_view text) {
  int options = UTF8PROC_STABLE;
  const bool composes = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  options |= composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kNfkc || form == NormalForm::kNfkd) {
    options |= UTF8PROC_COMPAT;
  }
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t bytes =
      utf8proc_map(Bytes(text), Size(text), &result,
                   static_cast<utf8proc_option_t>(options));
  if (bytes < 0) return std::string(text);
  const std::string normal(reinterpret_cast<const char*>(result),
                           static_cast<size_t>(bytes));
  std::free(result);
  return normal;
}

}  // namespace footprint

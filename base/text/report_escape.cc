#include "footprint/base/text/report_escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/utf8.h"

namespace footprint {
namespace {

// The form in which a byte is shown, plain and with a doubled backslash.
constexpr char kShown[] = "\\x%02x";
constexpr char kShownDoubled[] = "\\\\x%02x";

// Returns whether `text` begins with a character that reverses the rest of its
// line or ends the line. A name with such a character would look like another
// name.
bool BeginsWithLayoutCharacter(absl::string_view text) {
  constexpr absl::string_view kCharacters[] = {
      "\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
      "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
  };
  return std::any_of(std::begin(kCharacters), std::end(kCharacters),
                     [text](absl::string_view character) {
                       return absl::StartsWith(text, character);
                     });
}

// Returns the length of the UTF-8 sequence at the beginning of `text`, or 0 if
// its first byte must be escaped. The caller checks for ASCII control
// characters, whose length is 1.
size_t ShownLength(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(i < text.size() ? text[i] : 0);
  };
  // XML cannot hold the non-characters U+FFFE and U+FFFF.
  if (byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 0;
  // Terminals obey C1 control characters, too.
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return 0;
  if (byte(0) >= 0x80 && BeginsWithLayoutCharacter(text)) return 0;
  return Utf8SequenceLength(text);
}

std::string Hexadecimal(const char* format, char c) {
  char text[16];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned char>(c));
  return text;
}

// Escapes a text. Calls `escape_ascii(c, out)` for every ASCII character that
// is not a control character, and for '\n' and '\t'. Uses `byte_format` for the
// other control characters and for bytes that are not UTF-8.
template <typename EscapeAscii>
std::string Escape(absl::string_view text, const char* byte_format,
                   EscapeAscii escape_ascii) {
  std::string escaped;
  escaped.reserve(text.size() + 16);
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = ShownLength(text);
    const bool is_control =
        (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
        c == 0x7F;
    if (length == 0 || is_control) {
      escaped += Hexadecimal(byte_format, c);
    } else if (length == 1) {
      escape_ascii(c, &escaped);
    } else {
      escaped.append(text.data(), length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

}  // namespace

std::string EscapeForTerminal(absl::string_view text) {
  return Escape(text, kShown, [](char c, std::string* out) {
    if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else {
      *out += c;
    }
  });
}

std::string EscapeForProto(absl::string_view text) {
  return Escape(text, kShown, [](char c, std::string* out) { *out += c; });
}

std::string EscapeForXml(absl::string_view text) {
  return Escape(text, kShown, [](char c, std::string* out) {
    switch (c) {
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '&':
        *out += "&amp;";
        break;
      case '"':
        *out += "&quot;";
        break;
      case '\n':
        *out += "&#10;";
        break;
      case '\t':
        *out += "&#9;";
        break;
      default:
        *out += c;
    }
  });
}

std::string EscapeForMarkdown(absl::string_view text) {
  return Escape(text, kShownDoubled, [](char c, std::string* out) {
    constexpr absl::string_view kSpecial = "\\`*_{}[]()#~|!";
    switch (c) {
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '&':
        *out += "&amp;";
        break;
      case '\n':
        *out += "<br>";
        break;
      case '\t':
        *out += ' ';
        break;
      default:
        if (kSpecial.find(c) != absl::string_view::npos) *out += '\\';
        *out += c;
    }
  });
}

std::string EscapeForRegularExpression(absl::string_view text) {
  constexpr absl::string_view kSpecial = ".^$|()[{*+?\\";
  std::string escaped;
  for (const char c : text) {
    if (kSpecial.find(c) != absl::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace footprint

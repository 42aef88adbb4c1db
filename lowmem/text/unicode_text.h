// Characters of texts in UTF-8: the classes that tokenizers ask for, lower case
// and normal forms, all from the tables of utf8proc.
//
//   absl::Status status = footprint::CheckUtf8(text);
//   for (absl::string_view rest = text; !rest.empty();) {
//     const int32_t character = footprint::TakeCharacter(&rest);
//     if (footprint::IsWhitespace(character)) ...
//   }
//
// All functions but CheckUtf8 expect texts that it accepts. In other texts they
// read bytes that are not a character as U+FFFD, but ToNormalForm returns such
// a text unchanged.
//
// Pure and thread-safe. Memory: that of the results. The error is
// InvalidArgument if a text is not UTF-8; the message says at which byte.

#ifndef FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_
#define FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::Status CheckUtf8(absl::string_view text);

// Removes the first character of the text, which must not be empty, and returns
// it.
int32_t TakeCharacter(absl::string_view* text);
// Removes the first grapheme of the text, which must not be empty, and returns
// it. A grapheme is what a reader sees as one character, such as a letter and
// its accents.
absl::string_view TakeGrapheme(absl::string_view* text);
// Appends the character in UTF-8.
void AppendCharacter(int32_t character, std::string* text);

// Returns whether Unicode has the property White_Space for the character.
bool IsWhitespace(int32_t character);
// Returns whether the character is an ASCII symbol or has a class P.
bool IsPunctuation(int32_t character);
// Returns whether the character has a class C (Cn, unassigned, too) and is no
// tab, line feed or carriage return.
bool IsControl(int32_t character);
// Returns whether the class is Mn, such as that of accents after decomposition.
bool IsNonspacingMark(int32_t character);
// Returns whether the class is Mn, Mc or Me.
bool IsMark(int32_t character);
// Returns whether words may contain the character: a letter, mark, digit,
// connector or joiner.
bool IsWordCharacter(int32_t character);
// Returns whether the character has a class N.
bool IsNumber(int32_t character);
// Returns whether the character is in a block that BERT cuts into single
// characters.
bool IsCjkIdeograph(int32_t character);

// Converts each character by itself, whatever its neighbours.
std::string ToLowerCase(absl::string_view text);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
// Returns the text in the normal form.
std::string ToNormalForm(NormalForm form, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_

// Characters of texts in UTF-8: their classes as tokenizers ask for them, lower
// case and normal forms, all by utf8proc's tables.
//
//   absl::Status status = footprint::CheckUtf8(text);
//   for (absl::string_view rest = text; !rest.empty();) {
//     const int32_t character = footprint::TakeCharacter(&rest);
//     if (footprint::IsWhitespace(character)) ...
//   }
//
// All but CheckUtf8 take texts that it accepts; of another they take bytes that
// are no character as U+FFFD.
//
// Pure and thread-safe. Memory: that of the results. InvalidArgument: a text
// that is not UTF-8; says at which byte.

#ifndef FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_
#define FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::Status CheckUtf8(absl::string_view text);

// Returns the first character and takes it off the text, which is not empty.
int32_t TakeCharacter(absl::string_view* text);
// Returns the characters that a reader takes for one, as a letter and its
// accents, and takes them off the text, which is not empty.
absl::string_view TakeGrapheme(absl::string_view* text);
void AppendCharacter(int32_t character, std::string* text);

// Unicode's White_Space.
bool IsWhitespace(int32_t character);
// ASCII's signs, and the classes P of the others.
bool IsPunctuation(int32_t character);
// The classes C but for tabulator and ends of lines.
bool IsControl(int32_t character);
// The class Mn, as accents that stand by themselves after decomposition.
bool IsNonspacingMark(int32_t character);
// The classes M: those marks, spacing ones and enclosing ones.
bool IsMark(int32_t character);
// The characters that words are made of: letters, marks, digits, and signs that
// join them.
bool IsWordCharacter(int32_t character);
// Unicode's class N.
bool IsNumber(int32_t character);
// The blocks of ideographs that BERT cuts into single characters.
bool IsCjkIdeograph(int32_t character);

// Each character by itself, without a look at its neighbours.
std::string ToLowerCase(absl::string_view text);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string ToNormalForm(NormalForm form, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_UNICODE_TEXT_H_

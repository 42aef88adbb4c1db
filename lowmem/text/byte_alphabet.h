// The alphabet in which byte-level vocabularies are written: each byte is one
// printable character, a space "Ġ".
//
//   absl::optional<std::string> bytes = footprint::FromByteAlphabet("Ġworld");
//   // " world"
//
//   std::string word = footprint::ToByteAlphabet(" world");  // "Ġworld"
//
// Pure, thread-safe. Memory: the result.
//
// Source: GPT-2's encoder; Radford et al., 2019.

#ifndef FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_
#define FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// Returns nothing where a character is not of the alphabet.
absl::optional<std::string> FromByteAlphabet(absl::string_view word);

// Returns the characters of any bytes.
std::string ToByteAlphabet(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_

// The alphabet that byte-level vocabularies are written in. It shows each byte
// as one printable character; a space, for example, is "Ġ".
//
//   absl::optional<std::string> bytes = footprint::FromByteAlphabet("Ġworld");
//   // " world"
//
//   std::string word = footprint::ToByteAlphabet(" world");  // "Ġworld"
//
// Pure and thread-safe. Memory: the result.
//
// Source: GPT-2's encoder; Radford et al., 2019.

#ifndef FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_
#define FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// Returns the bytes of the word, or nullopt if a character is not in the
// alphabet.
absl::optional<std::string> FromByteAlphabet(absl::string_view word);

// Returns the characters that stand for the bytes, which may have any value.
std::string ToByteAlphabet(absl::string_view bytes);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_BYTE_ALPHABET_H_

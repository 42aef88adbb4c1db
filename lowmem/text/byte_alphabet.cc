#include "footprint/lowmem/text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

constexpr int32_t kBytes = 256;
// Bytes that do not stand for themselves get consecutive characters from here
// on.
constexpr int32_t kFirstOther = 0x100;

bool StandsForItself(int32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
         byte >= 174;
}

// Returns the bytes that do not stand for themselves, in increasing order.
std::array<char, kBytes> ListOthers(int32_t* count) {
  std::array<char, kBytes> others = {};
  *count = 0;
  for (int32_t byte = 0; byte < kBytes; ++byte) {
    if (!StandsForItself(byte)) others[(*count)++] = static_cast<char>(byte);
  }
  return others;
}

// Returns the character of each byte, in UTF-8.
std::array<std::string, kBytes> ListLetters() {
  std::array<std::string, kBytes> letters;
  int32_t others = 0;
  for (int32_t byte = 0; byte < kBytes; ++byte) {
    AppendCharacter(StandsForItself(byte) ? byte : kFirstOther + others++,
                    &letters[byte]);
  }
  return letters;
}

}  // namespace

absl::optional<std::string> FromByteAlphabet(absl::string_view word) {
  static int32_t other_count = 0;
  static const std::array<char, kBytes> others = ListOthers(&other_count);
  std::string bytes;
  while (!word.empty()) {
    const int32_t character = TakeCharacter(&word);
    if (character < kBytes && StandsForItself(character)) {
      bytes += static_cast<char>(character);
    } else if (character >= kFirstOther &&
               character < kFirstOther + other_count) {
      bytes += others[character - kFirstOther];
    } else {
      return absl::nullopt;
    }
  }
  return bytes;
}

std::string ToByteAlphabet(absl::string_view bytes) {
  static const auto* const letters =
      new std::array<std::string, kBytes>(ListLetters());
  std::string word;
  for (const char byte : bytes) {
    word += (*letters)[static_cast<unsigned char>(byte)];
  }
  return word;
}

}  // namespace footprint

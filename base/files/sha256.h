// SHA-256 (FIPS 180-4): names bytes so that nobody can make others of the name.
//
//   footprint::Sha256 hash;
//   hash.Add("ab");
//   hash.Add("c");
//   hash.FinishHex();                // "ba7816bf...f20015ad"
//   footprint::Sha256Hex("abc");     // the same
//
// Against adversaries, unlike Fingerprint (fingerprint.h), and about thirty
// times slower: some 250 MB a second. Thread-compatible; copies
// the last 63 of the bytes that were added. Memory: 112 bytes, nothing on the
// heap but the text.

#ifndef FOOTPRINT_BASE_FILES_SHA256_H_
#define FOOTPRINT_BASE_FILES_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// The length of the hash as a text.
constexpr size_t kSha256HexDigits = 64;

class Sha256 {
 public:
  void Add(absl::string_view bytes);

  // The 32 bytes. Once; no Add afterwards.
  std::string Finish();
  // The same as 64 digits, in lower case.
  std::string FinishHex();

 private:
  void AddBlock(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_ = {};
  uint64_t added_bytes_ = 0;
};

std::string Sha256Hex(absl::string_view bytes);

// Returns whether `text` is one as FinishHex writes it.
bool IsSha256Hex(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SHA256_H_

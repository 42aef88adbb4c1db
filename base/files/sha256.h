// Computes SHA-256 (FIPS 180-4), a cryptographic hash: nobody can find other
// bytes with the same hash.
//
//   footprint::Sha256 hash;
//   hash.Add("ab");
//   hash.Add("c");
//   hash.FinishHex();                // "ba7816bf...f20015ad"
//   footprint::Sha256Hex("abc");     // the same
//
// Unlike Fingerprint (fingerprint.h) it is safe against adversaries, and about
// thirty times slower: some 250 MB a second. Thread-compatible. It copies up to
// 63 of the added bytes. Memory: 104 bytes; only the returned text is on the
// heap.

#ifndef FOOTPRINT_BASE_FILES_SHA256_H_
#define FOOTPRINT_BASE_FILES_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// The number of digits of the hash.
constexpr size_t kSha256HexDigits = 64;

class Sha256 {
 public:
  // Appends bytes to those that are hashed.
  void Add(absl::string_view bytes);

  // Returns the 32 bytes of the hash. Call it once, and do not call Add
  // afterwards.
  std::string Finish();
  // Does the same, but returns 64 hexadecimal digits in lower case.
  std::string FinishHex();

 private:
  void AddBlock(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_ = {};
  uint64_t added_bytes_ = 0;
};

// Returns the 64 digits of the hash of `bytes`.
std::string Sha256Hex(absl::string_view bytes);

// Returns whether `text` has the form that FinishHex writes.
bool IsSha256Hex(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_SHA256_H_

// Adds to any bytes the end that //base/files:sealed_proto_file gives a whole
// file, so that the code behind the checksum can be fuzzed.
//
//   const std::string file = footprint::SealedBytes(bytes, /*complete=*/15);
//
// The schema version is 1. The checksum is computed bit by bit, from its
// definition and not by the code of base/files. Pure; thread-safe. Memory: the
// result. Time: linear.

#ifndef FOOTPRINT_BASE_TESTING_SEALED_BYTES_H_
#define FOOTPRINT_BASE_TESTING_SEALED_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the CRC-32 of IEEE 802.3, lowest bit first.
inline uint32_t Crc32(absl::string_view bytes) {
  uint32_t remainder = 0xFFFFFFFF;
  for (const char c : bytes) {
    remainder ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      remainder =
          (remainder >> 1) ^ ((remainder & 1) != 0 ? 0xEDB88320 : uint32_t{0});
    }
  }
  return ~remainder;
}

// Returns the sealed bytes of `message`, which is in protobuf's encoding.
// `complete_field` is the number of the message's field `complete`, at most 15;
// that of `schema_version` is 1. protobuf takes the last of two values of a
// field.
inline std::string SealedBytes(absl::string_view message, int complete_field) {
  std::string bytes(message);
  bytes += "\x08\x01";
  bytes += static_cast<char>(complete_field << 3);
  bytes += '\x01';
  uint32_t checksum = Crc32(bytes);
  bytes += "\x85\x01";
  for (int i = 0; i < 4; ++i, checksum >>= 8) {
    bytes += static_cast<char>(checksum & 0xFF);
  }
  return bytes;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_SEALED_BYTES_H_

// Tells a file that was damaged from one that was written.
//
//   uint64_t checksum = Checksum(header_bytes);
//   checksum = Checksum(more_bytes, checksum);   // of both, one after the
//   other
//
// FNV-1a of 64 bits: guards against accidents, not against an opponent.
// Thread-safe. Memory: none. Time: linear, about a byte a nanosecond.

#ifndef FOOTPRINT_BASE_FILES_CHECKSUM_H_
#define FOOTPRINT_BASE_FILES_CHECKSUM_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace footprint {
namespace tabular {

inline constexpr uint64_t kEmptyChecksum = 0xcbf29ce484222325;

inline uint64_t Checksum(absl::string_view bytes,
                         uint64_t checksum = kEmptyChecksum) {
  for (const char byte : bytes) {
    checksum ^= static_cast<uint8_t>(byte);
    checksum *= 0x100000001b3;
  }
  return checksum;
}

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_CHECKSUM_H_

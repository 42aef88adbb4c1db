#include "footprint/base/files/fingerprint.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace footprint {

// FNV-1a, but with words of eight bytes while there are eight.
uint64_t Fingerprint(const void* data, int64_t size_bytes, uint64_t seed) {
  const char* bytes = static_cast<const char*>(data);
  uint64_t hash = seed;
  for (int64_t i = 0; i < size_bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i,
                static_cast<size_t>(std::min<int64_t>(8, size_bytes - i)));
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;  // otherwise high bits would not affect low bits
  }
  return hash;
}

}  // namespace footprint

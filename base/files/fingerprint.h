// A hash of bytes, to find out whether they changed.
//
//   const uint64_t before = footprint::Fingerprint(data, size_bytes);
//
// It gives no protection against an adversary. Pure and thread-safe, without
// heap memory. It takes about a nanosecond per eight bytes.

#ifndef FOOTPRINT_BASE_FILES_FINGERPRINT_H_
#define FOOTPRINT_BASE_FILES_FINGERPRINT_H_

#include <cstdint>

namespace footprint {

constexpr uint64_t kFingerprintOfNothing = 0xcbf29ce484222325u;

// `seed` is the fingerprint of the bytes before these.
uint64_t Fingerprint(const void* data, int64_t size_bytes,
                     uint64_t seed = kFingerprintOfNothing);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FINGERPRINT_H_

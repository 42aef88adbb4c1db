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

// Returns the hash of the bytes. `seed` may be the hash of the bytes before
// these; the result is that of all bytes at once only if the earlier parts have
// multiples of eight bytes. Zeros up to the next multiple of eight bytes do not
// change the hash, so compare sizes, too.
uint64_t Fingerprint(const void* data, int64_t size_bytes,
                     uint64_t seed = kFingerprintOfNothing);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FINGERPRINT_H_

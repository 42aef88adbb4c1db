// Signs texts with a key that both sides know: HMAC (RFC 2104) with SHA-256.
//
//   std::string signature = HmacSha256Hex("key", "text");   // 64 digits
//
// A pure function, thread-safe. Memory: the text of the result. It does not
// compare signatures: a receiver compares them in constant time.

#ifndef FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_
#define FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the signature as hexadecimal digits in lower case. The key may have
// any length, and both may have any bytes.
std::string HmacSha256Hex(absl::string_view key, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_

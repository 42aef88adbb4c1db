// Signs texts with a key that both sides know: HMAC (RFC 2104) with SHA-256.
//
//   absl::StatusOr<std::string> key = ReadSigningKey("signing_key");
//   std::string signature = HmacSha256Hex(*key, "text");   // 64 digits
//   bool is_signed = HasHmacSha256(*key, "text", signature);
//
// Thread-safe. Memory: the texts.

#ifndef FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_
#define FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Returns the signature as hexadecimal digits in lower case. The key may have
// any length, and both may have any bytes.
std::string HmacSha256Hex(absl::string_view key, absl::string_view text);

// Returns whether `signature` is that of the text. Takes the same time for
// every wrong signature, so that nobody can find the right one digit by digit.
bool HasHmacSha256(absl::string_view key, absl::string_view text,
                   absl::string_view signature);

// Returns InvalidArgument if the key has fewer than 16 bytes, which somebody
// might guess.
absl::Status CheckSigningKey(absl::string_view key);

// Reads a key from a file, without the blanks and line feeds at its end.
// Errors: CheckSigningKey's, with the path, and ReadWholeFile's.
absl::StatusOr<std::string> ReadSigningKey(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_HMAC_SHA256_H_

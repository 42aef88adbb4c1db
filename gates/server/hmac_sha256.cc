#include "footprint/gates/server/hmac_sha256.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLeastKeyBytes = 16;

// Returns the SHA-256 of the block, each byte of it changed by `mask`, and the
// text.
Sha256 HashAfterBlock(std::string block, char mask, absl::string_view text) {
  for (char& each : block) each = static_cast<char>(each ^ mask);
  Sha256 hash;
  hash.Add(block);
  hash.Add(text);
  return hash;
}

}  // namespace

std::string HmacSha256Hex(absl::string_view key, absl::string_view text) {
  std::string block(key);
  if (block.size() > kBlockBytes) {
    Sha256 hash;
    hash.Add(key);
    block = hash.Finish();
  }
  block.resize(kBlockBytes, '\0');
  const std::string inner = HashAfterBlock(block, 0x36, text).Finish();
  return HashAfterBlock(block, 0x5c, inner).FinishHex();
}

bool HasHmacSha256(absl::string_view key, absl::string_view text,
                   absl::string_view signature) {
  const std::string expected = HmacSha256Hex(key, text);
  if (signature.size() != expected.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference |= static_cast<unsigned char>(expected[i]) ^
                  static_cast<unsigned char>(signature[i]);
  }
  return difference == 0;
}

absl::Status CheckSigningKey(absl::string_view key) {
  if (key.size() >= kLeastKeyBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a key that signs has at least ", kLeastKeyBytes,
                   " bytes; make one by `openssl rand -hex 32`"));
}

absl::StatusOr<std::string> ReadSigningKey(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.status();
  std::string key(absl::StripTrailingAsciiWhitespace(*text));
  const absl::Status status = CheckSigningKey(key);
  if (status.ok()) return key;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

}  // namespace footprint

#include "footprint/gates/server/hmac_sha256.h"

#include <cstddef>

#include "footprint/base/files/sha256.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = 64;

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

}  // namespace footprint

#include "footprint/base/files/sha256.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"

namespace footprint {
namespace {

constexpr size_t kBlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t RotatedRight(uint32_t word, int bits) {
  return (word >> bits) | (word << (32 - bits));
}

void StoreBigEndian(uint64_t value, int byte_count, unsigned char* bytes) {
  for (int i = 0; i < byte_count; ++i) {
    bytes[i] = static_cast<unsigned char>(value >> (8 * (byte_count - 1 - i)));
  }
}

// Computes the message schedule.
void ExpandBlock(const unsigned char* block, uint32_t* words) {
  for (int i = 0; i < 16; ++i) {
    words[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
               uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t near = words[i - 15];
    const uint32_t far = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] +
               (RotatedRight(near, 7) ^ RotatedRight(near, 18) ^ (near >> 3)) +
               (RotatedRight(far, 17) ^ RotatedRight(far, 19) ^ (far >> 10));
  }
}

}  // namespace

void Sha256::AddBlock(const unsigned char* block) {
  uint32_t words[64];
  ExpandBlock(block, words);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t first =
        h + (RotatedRight(e, 6) ^ RotatedRight(e, 11) ^ RotatedRight(e, 25)) +
        ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
    const uint32_t second =
        (RotatedRight(a, 2) ^ RotatedRight(a, 13) ^ RotatedRight(a, 22)) +
        ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += added[i];
}

void Sha256::Add(absl::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t size = bytes.size();
  const size_t kept = added_bytes_ % kBlockBytes;
  added_bytes_ += size;
  if (kept > 0) {
    const size_t taken = std::min(size, kBlockBytes - kept);
    std::memcpy(rest_.data() + kept, data, taken);
    data += taken;
    size -= taken;
    if (kept + taken < kBlockBytes) return;
    AddBlock(rest_.data());
  }
  for (; size >= kBlockBytes; data += kBlockBytes, size -= kBlockBytes) {
    AddBlock(data);
  }
  if (size > 0) std::memcpy(rest_.data(), data, size);
}

std::string Sha256::Finish() {
  const uint64_t bits = added_bytes_ * 8;
  unsigned char padding[2 * kBlockBytes] = {0x80};
  const size_t kept = added_bytes_ % kBlockBytes;
  // The padding has at least one byte, and room for the eight bytes of the
  // length.
  const size_t padding_bytes =
      (kept < kBlockBytes - 8 ? kBlockBytes : 2 * kBlockBytes) - kept;
  StoreBigEndian(bits, 8, padding + padding_bytes - 8);
  Add(absl::string_view(reinterpret_cast<const char*>(padding), padding_bytes));
  std::string digest(32, '\0');
  for (int i = 0; i < 8; ++i) {
    StoreBigEndian(state_[i], 4,
                   reinterpret_cast<unsigned char*>(&digest[4 * i]));
  }
  return digest;
}

std::string Sha256::FinishHex() { return absl::BytesToHexString(Finish()); }

std::string Sha256Hex(absl::string_view bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return hash.FinishHex();
}

bool IsSha256Hex(absl::string_view text) {
  return text.size() == kSha256HexDigits &&
         text.find_first_not_of("0123456789abcdef") == absl::string_view::npos;
}

}  // namespace footprint

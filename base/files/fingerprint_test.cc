#include "footprint/base/files/fingerprint.h"

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(FingerprintTest, EachBitCounts) {
  std::string bytes(21, 'x');
  const int64_t size = static_cast<int64_t>(bytes.size());
  std::set<uint64_t> seen = {Fingerprint(bytes.data(), size)};
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      EXPECT_TRUE(seen.insert(Fingerprint(bytes.data(), size)).second);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
  EXPECT_EQ(seen.size(), 21u * 8 + 1);
}

TEST(FingerprintTest, DependsOnWhatComesBefore) {
  EXPECT_NE(Fingerprint("a", 1, Fingerprint("b", 1)),
            Fingerprint("a", 1, Fingerprint("c", 1)));
  EXPECT_EQ(Fingerprint(nullptr, 0), kFingerprintOfNothing);
}

}  // namespace
}  // namespace footprint

#include "footprint/memo/product/resident_check.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

constexpr size_t kBytes = 64 << 20;

// Touches a mapping of `bytes`, and unmaps it unless `stays`.
void* Hold(size_t bytes, bool stays) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(mapped, 1, bytes);
  if (!stays) munmap(mapped, bytes);
  return mapped;
}

TEST(ResidentCheckTest, SeesWhatStaysAndWhatWasThereForAMoment) {
  ResidentCheck check;
  EXPECT_EQ(check.FindHighest(), 0);  // before Begin
  check.Begin(40 << 20, 0);
  Hold(30 << 20, false);
  EXPECT_EQ(check.FindHighest(), 0);
  Hold(kBytes, false);
  const int64_t passing = check.FindHighest();
  EXPECT_GT(passing, 60 << 20);
  EXPECT_LT(passing, 72 << 20);
  // The same peak is reported only once.
  EXPECT_EQ(check.FindHighest(), 0);
  Hold(kBytes, false);
  EXPECT_EQ(check.FindHighest(), 0);
  // Below the mark, the resident set at the moment of the check counts.
  ResidentCheck second;
  second.Begin(40 << 20, 0);
  void* const held = Hold(kBytes - (4 << 20), true);
  EXPECT_GT(second.FindHighest(), 56 << 20);
  munmap(held, kBytes - (4 << 20));
}

TEST(ResidentCheckTest, ValuesThatWereLoadedBeforeCount) {
  void* const held = Hold(kBytes, true);
  ResidentCheck check;
  check.Begin(40 << 20, kBytes);
  EXPECT_GT(check.FindHighest(), 60 << 20);
  munmap(held, kBytes);
}

TEST(ResidentCheckTest, AllowsTwoPerCentAndFourMebibytes) {
  ResidentCheck check;
  check.Begin(kBytes - (2 << 20), 0);
  void* const held = Hold(kBytes, true);
  EXPECT_EQ(check.FindHighest(), 0);
  munmap(held, kBytes);
}

}  // namespace
}  // namespace footprint::memo_internal

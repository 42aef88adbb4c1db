// The memory that a program with return_pages_at_once keeps when it has freed
// everything is almost nothing. By default jemalloc keeps it for ten seconds.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"

namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr int kBlockCount = 200;

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t mapped = 0;
  int64_t resident = 0;
  file >> mapped >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(ReturnPagesAtOnceTest, WhatWasFreedIsTheSystems) {
  const int64_t before = ResidentBytes();
  std::vector<void*> blocks;
  for (int i = 0; i < kBlockCount; ++i) {
    blocks.push_back(std::malloc(kBlockBytes));
    std::memset(blocks.back(), 1, kBlockBytes);
  }
  const auto held = static_cast<int64_t>(kBlockBytes) * kBlockCount;
  EXPECT_GT(ResidentBytes(), before + held / 2);
  for (void* block : blocks) std::free(block);
  EXPECT_LT(ResidentBytes(), before + held / 10);
}

}  // namespace

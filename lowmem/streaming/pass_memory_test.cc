#include "footprint/lowmem/streaming/pass_memory.h"

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

// The fields of a plan that passes read, for two workers.
struct TestPlan {
  int64_t tile_bytes = 64;
  ArenaRange slots = {0, 512};
  ArenaRange wide = {512, 0};
  ArenaRange dense = {512, 256};

  int64_t part_bytes(const ArenaRange& range) const {
    return range.size_bytes / 2;
  }
};

TEST(PassMemoryTest, VectorsLieOneAfterTheOther) {
  float memory[8];
  VectorRun run(memory);
  EXPECT_EQ(run.Take(3), memory);
  EXPECT_EQ(run.Take(5), memory + 3);
}

TEST(PassMemoryTest, EachWorkerHasItsOwnPart) {
  const auto arena = MappedBlock::Allocate(768);
  ASSERT_THAT(arena, IsOk());
  const TestPlan plan;
  for (const int worker : {0, 1}) {
    const ProductMemory memory =
        FindProductMemory(*arena, plan, worker, /*slots=*/4);
    EXPECT_EQ(memory.tile_bytes, 64);
    EXPECT_EQ(memory.slot, arena->At<char>(worker * 256));
    EXPECT_EQ(memory.slot_bytes, 64);
    EXPECT_EQ(memory.dense, arena->At<float>(512 + worker * 128));
    EXPECT_EQ(memory.wide, nullptr);
  }
}

}  // namespace
}  // namespace footprint::lowmem_internal

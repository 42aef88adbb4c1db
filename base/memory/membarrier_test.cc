#include "footprint/base/memory/membarrier.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

// The order that it enforces is tested where two threads need it: in memo's
// pinned_pointer, and in the counters behind malloc.
TEST(MembarrierTest, IsGrantedToProcessesThatRegistered) {
  EXPECT_FALSE(Membarrier());
  const bool is_registered = RegisterMembarrier();
  EXPECT_EQ(Membarrier(), is_registered);
}

}  // namespace
}  // namespace footprint

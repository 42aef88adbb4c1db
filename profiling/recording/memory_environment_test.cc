#include "footprint/profiling/recording/memory_environment.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MemoryEnvironmentTest, EveryFieldThatMustBeKnownIs) {
  const Environment environment = CurrentEnvironment();
  EXPECT_EQ(environment.allocator().rfind("jemalloc 5.", 0), 0u)
      << environment.allocator();
  EXPECT_GE(environment.page_size_bytes(), 4096);
  EXPECT_NE(environment.compiler(), "");
  EXPECT_EQ(environment.c_library().rfind("glibc 2.", 0), 0u);
  EXPECT_NE(environment.cpp_library(), "");
  EXPECT_NE(environment.simd_level(), "");
  EXPECT_NE(environment.architecture(), "unknown");
}

TEST(MemoryEnvironmentTest, NamesTheAllocatorsOptions) {
  ASSERT_EQ(setenv("MALLOC_CONF", "narenas:2", 1), 0);
  EXPECT_EQ(CurrentEnvironment().allocator_options(), "narenas:2");
  ASSERT_EQ(unsetenv("MALLOC_CONF"), 0);
  EXPECT_EQ(CurrentEnvironment().allocator_options(), "");
}

TEST(MemoryEnvironmentTest, IsTheSameEveryTime) {
  EXPECT_EQ(CurrentEnvironment().SerializeAsString(),
            CurrentEnvironment().SerializeAsString());
}

}  // namespace
}  // namespace footprint

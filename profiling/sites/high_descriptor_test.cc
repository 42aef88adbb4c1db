#include "footprint/profiling/sites/high_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// A limit of descriptors, until the end of its life.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t count) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = count;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_;
};

int OpenFile() { return open("/", O_PATH | O_CLOEXEC); }

bool IsOpen(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

TEST(HighDescriptorTest, TheNumberIsFreeForTheProgram) {
  const DescriptorLimit limit(2000);
  const int low = OpenFile();
  const int high = MoveUp(low);
  EXPECT_GE(high, 1000);
  EXPECT_EQ(fcntl(high, F_GETFD), FD_CLOEXEC);
  const int next = OpenFile();
  EXPECT_EQ(next, low);
  close(next);
  close(high);
}

TEST(HighDescriptorTest, TakesTheHighestThatALowLimitLeaves) {
  const DescriptorLimit limit(100);
  const int first = OpenFile();
  EXPECT_EQ(MoveUp(first), 99);
  EXPECT_EQ(MoveUp(OpenFile()), 98);
  ASSERT_EQ(dup2(99, 97), 97);
  EXPECT_EQ(MoveUp(OpenFile()), 96);
  EXPECT_FALSE(IsOpen(first));
  for (const int each : {96, 97, 98, 99}) EXPECT_EQ(close(each), 0);
}

TEST(HighDescriptorTest, StaysWhereNoHigherNumberIsFree) {
  const int low = OpenFile();
  {
    const DescriptorLimit limit(static_cast<rlim_t>(low) + 1);
    EXPECT_EQ(MoveUp(low), low);
  }
  EXPECT_TRUE(IsOpen(low));
  close(low);
}

TEST(HighDescriptorTest, WhatIsNotOpenStaysSo) {
  EXPECT_EQ(MoveUp(-1), -1);
  const int closed = OpenFile();
  close(closed);
  EXPECT_EQ(MoveUp(closed), closed);
}

}  // namespace
}  // namespace footprint::profiling_internal

// Tests what whole_process_name.h promises.

#include "footprint/profiling/schema/whole_process_name.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(WholeProcessNameTest, ANameThatIsMadeIsKnown) {
  EXPECT_EQ(WholeProcessName("load_profile"), "whole_process/load_profile");
  EXPECT_TRUE(IsWholeProcessName(WholeProcessName("load_profile")));
  EXPECT_TRUE(IsWholeProcessName("whole_process/*"));
}

TEST(WholeProcessNameTest, OtherNamesAreBenchmarks) {
  EXPECT_FALSE(IsWholeProcessName(""));
  EXPECT_FALSE(IsWholeProcessName("*"));
  EXPECT_FALSE(IsWholeProcessName("whole_process"));
  EXPECT_FALSE(IsWholeProcessName("BM_Run/whole_process/1"));
}

}  // namespace
}  // namespace footprint

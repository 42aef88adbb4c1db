#include "footprint/memo/single_copy.h"

#include <dlfcn.h>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

TEST(SingleCopyTest, TheSecondCopyFindsTheFirst) {
  void* const library = dlopen("memo/second_copy.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto find_other = reinterpret_cast<const char* (*)()>(
      dlsym(library, "FindOtherCopyFromTheSecond"));
  ASSERT_NE(find_other, nullptr) << dlerror();
  // A copy that exists and is not in use does no harm.
  EXPECT_EQ(FindOtherCopyInUse(), nullptr);
  EXPECT_NE(find_other(), nullptr);
  // The first copy continues to work.
  EXPECT_EQ(FindOtherCopyInUse(), nullptr);
  EXPECT_NE(find_other(), nullptr);
}

}  // namespace
}  // namespace footprint::memo_internal

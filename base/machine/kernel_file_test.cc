// Tests of kernel_file.h's promises.

#include "footprint/base/machine/kernel_file.h"

#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(KernelFileTest, ReadsWhatHasNoSize) {
  const absl::StatusOr<std::string> text = ReadKernelFile("/proc/self/status");
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, testing::HasSubstr(absl::StrCat("\nPid:\t", getpid())));
  EXPECT_EQ(text->back(), '\n');
}

TEST(KernelFileTest, ReadsMoreThanAPiece) {
  // Each mapping has a line, and a program with its libraries has more lines
  // than one call reads.
  const absl::StatusOr<std::string> text = ReadKernelFile("/proc/self/smaps");
  ASSERT_THAT(text, IsOk());
  EXPECT_GT(text->size(), 5000u);
  EXPECT_THAT(*text, testing::HasSubstr("[stack]"));
}

TEST(KernelFileTest, AProcessThatHasEndedIsNotFound) {
  EXPECT_EQ(ReadKernelFile("/proc/8388608/status").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace footprint

// Tests of kernel_file.h's promises.

#include "footprint/base/machine/kernel_file.h"

#include <pthread.h>
#include <unistd.h>

#include <cstddef>
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

// A process whose stacks may have 64 KiB gives its threads as much.
TEST(KernelFileTest, NeedsLittleOfTheStack) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{64} << 10), 0);
  const auto read = [](void* text) -> void* {
    *static_cast<absl::StatusOr<std::string>*>(text) =
        ReadKernelFile("/proc/self/status");
    return nullptr;
  };
  absl::StatusOr<std::string> text;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, read, &text), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, testing::HasSubstr("VmRSS:"));
}

TEST(KernelFileTest, AProcessThatHasEndedIsNotFound) {
  EXPECT_EQ(ReadKernelFile("/proc/8388608/status").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace footprint

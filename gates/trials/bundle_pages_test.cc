#include "footprint/gates/trials/bundle_pages.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Whether the first page of a file is in memory.
bool IsCached(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const memory =
      mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  unsigned char page = 0;
  EXPECT_EQ(mincore(memory, 4096, &page), 0);
  munmap(memory, 4096);
  return (page & 1) != 0;
}

TEST(BundlePagesTest, SmallFilesLeaveTheCacheToo) {
  std::filesystem::create_directories(TestPath("small/below"));
  for (int i = 0; i < 50; ++i) {
    const std::string path =
        WriteTestFile(absl::StrCat("small/below/", i), std::string(5000, 'x'));
    ASSERT_TRUE(IsCached(path));
  }
  WriteTestFile("small/empty", "");
  std::filesystem::create_symlink("nowhere", TestPath("small/link"));
  ASSERT_THAT(EvictFiles(TestPath("small")), IsOk());
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(IsCached(TestPath(absl::StrCat("small/below/", i))));
  }
}

TEST(BundlePagesTest, ATmpfsIsRefusedByName) {
  struct statfs about = {};
  const std::string parent = "/dev/shm";
  if (statfs(parent.c_str(), &about) != 0 || about.f_type != TMPFS_MAGIC) {
    GTEST_SKIP() << "this host has no tmpfs at " << parent;
  }
  const std::string folder = absl::StrCat(parent, "/footprint-test-", getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/file";
  {
    const FileDescriptor file(
        open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    ASSERT_EQ(write(file.get(), "x", 1), 1);
  }
  EXPECT_THAT(
      EvictFiles(folder),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("a tmpfs"), HasSubstr("TMPDIR=/var/tmp"))));
  std::filesystem::remove_all(folder);
}

TEST(BundlePagesTest, AMissingFolderIsToldOf) {
  EXPECT_THAT(EvictFiles(TestPath("missing")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint

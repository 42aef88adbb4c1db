#include "footprint/gates/trials/bundle_pages.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Returns whether the first page of a file is in memory.
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

// A container image may have 250,000 files.
TEST(BundlePagesTest, ManySmallFilesLeaveTheCacheToo) {
  constexpr int kFileCount = 10001;
  std::filesystem::create_directories(TestPath("many"));
  for (int i = 0; i < kFileCount; ++i) {
    WriteTestFile(absl::StrCat("many/", i), "x");
  }
  ASSERT_TRUE(IsCached(TestPath("many/1")));
  ASSERT_THAT(EvictFiles(TestPath("many")), IsOk());
  for (int i = 0; i < kFileCount; ++i) {
    ASSERT_FALSE(IsCached(TestPath(absl::StrCat("many/", i)))) << i;
  }
}

// Maps the first page of a file and reads it, so that the kernel keeps the
// page.
class MappedPage {
 public:
  explicit MappedPage(const std::string& path) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    memory_ = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file.get(), 0);
    first_byte_ = *static_cast<volatile char*>(memory_);
  }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  ~MappedPage() { munmap(memory_, kBytes); }

 private:
  static constexpr size_t kBytes = 4096;
  void* memory_ = nullptr;
  char first_byte_ = 0;
};

TEST(BundlePagesTest, APageThatIsHeldForAMomentIsWaitedFor) {
  std::filesystem::create_directories(TestPath("held"));
  const std::string path = WriteTestFile("held/file", std::string(5000, 'x'));
  auto page = std::make_unique<MappedPage>(path);
  std::thread release([&page] {
    absl::SleepFor(absl::Milliseconds(500));
    page.reset();
  });
  EXPECT_THAT(EvictFiles(TestPath("held")), IsOk());
  release.join();
  EXPECT_FALSE(IsCached(path));
}

TEST(BundlePagesTest, APageThatIsHeldForGoodIsToldOf) {
  std::filesystem::create_directories(TestPath("kept"));
  const std::string path = WriteTestFile("kept/file", std::string(5000, 'x'));
  const MappedPage page(path);
  EXPECT_THAT(EvictFiles(TestPath("kept")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("kept/file still has "),
                             HasSubstr("another process uses the file"))));
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

// Ends with 0 if files cannot be evicted by a process with few addresses.
void EvictWithFewAddresses(const std::string& folder) {
  const rlimit limit = {rlim_t{1} << 38, rlim_t{1} << 38};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(2);
  const absl::Status status = EvictFiles(folder);
  std::fputs(std::string(status.message()).c_str(), stderr);
  std::_Exit(status.ok() ? 1 : 0);
}

TEST(BundlePagesDeathTest, PagesThatCannotBeCountedDoNotCountAsEvicted) {
  std::filesystem::create_directories(TestPath("huge"));
  const std::string path = WriteTestFile("huge/file", "x");
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  EXPECT_EXIT(EvictWithFewAddresses(TestPath("huge")),
              testing::ExitedWithCode(0),
              "huge/file: its pages .* cannot be counted");
}

TEST(BundlePagesTest, AMissingFolderIsToldOf) {
  EXPECT_THAT(EvictFiles(TestPath("missing")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint

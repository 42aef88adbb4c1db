#include "footprint/profiling/sites/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "gtest/gtest.h"

namespace {

int interruptions = 0;

}  // namespace

// Replaces the C library's, so that it can be interrupted.
extern "C" int posix_fallocate(int file, off_t offset, off_t size) {
  if (interruptions > 0) {
    --interruptions;
    return EINTR;
  }
  return fallocate(file, 0, offset, size) == 0 ? 0 : errno;
}

namespace footprint::profiling_internal {
namespace {

constexpr size_t kFileBytes = size_t{64} << 20;
constexpr size_t kHeadBytes = 4096;

class GrowingFileTest : public testing::Test {
 protected:
  GrowingFileTest() : folder_(open(testing::TempDir().c_str(), O_PATH)) {
    unlink(Path().c_str());
  }
  ~GrowingFileTest() override {
    file_.Close();
    unlink(Path().c_str());
    close(folder_);
  }

  static std::string Path() { return testing::TempDir() + "/growing"; }

  void* Create() {
    return file_.Create(folder_, "growing", kFileBytes, kHeadBytes);
  }

  static int64_t SpaceBytes() {
    struct stat status;
    EXPECT_EQ(stat(Path().c_str(), &status), 0);
    return status.st_blocks * int64_t{512};
  }

  const int folder_;
  GrowingFile file_;
};

TEST_F(GrowingFileTest, HoldsWhatWasWrittenAfterItIsClosed) {
  auto* const bytes = static_cast<char*>(Create());
  ASSERT_NE(bytes, nullptr);
  bytes[7] = 'x';
  file_.Close();
  const int file = open(Path().c_str(), O_RDONLY);
  char read = 0;
  EXPECT_EQ(pread(file, &read, 1, 7), 1);
  EXPECT_EQ(read, 'x');
  close(file);
}

// Programs may rely on lower descriptor numbers.
TEST_F(GrowingFileTest, ItsDescriptorIsTheFirstThatIsFreeFromAThousandOn) {
  ASSERT_NE(Create(), nullptr);
  std::error_code error;
  EXPECT_EQ(std::filesystem::read_symlink("/proc/self/fd/1000", error),
            std::filesystem::canonical(Path()));
  EXPECT_FALSE(error) << error.message();
}

TEST_F(GrowingFileTest, LeavesNoFileWhereItCannotBeMapped) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit none_left = before;
  none_left.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none_left), 0);
  const void* const mapped = Create();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(mapped, nullptr);
  EXPECT_NE(access(Path().c_str(), F_OK), 0);
}

TEST_F(GrowingFileTest, TakesSpaceAsItsArraysGrow) {
  auto* const bytes = static_cast<char*>(Create());
  ASSERT_NE(bytes, nullptr);
  EXPECT_LT(SpaceBytes(), 256 << 10);
  GrowingArray array(&file_, size_t{1} << 20, 1 << 16, 100);
  ASSERT_TRUE(array.Reach(0));
  const int64_t one_bytes = SpaceBytes();
  ASSERT_TRUE(array.Reach(1));
  EXPECT_EQ(SpaceBytes(), one_bytes);
  ASSERT_TRUE(array.Reach(99));
  EXPECT_GE(SpaceBytes(), 100 << 16);
  EXPECT_FALSE(array.Reach(100));
  bytes[(size_t{1} << 20) + (size_t{100} << 16) - 1] = 1;
}

// The kernel's read-ahead cost 8 ms at the start of each process.
TEST_F(GrowingFileTest, TakesThePageCacheOfTouchedPagesOnly) {
  auto* const bytes = static_cast<char*>(Create());
  ASSERT_NE(bytes, nullptr);
  GrowingArray array(&file_, size_t{32} << 20, 4096, 64);
  ASSERT_TRUE(array.Reach(0));
  bytes[size_t{32} << 20] = 1;
  std::vector<unsigned char> resident(kFileBytes / 4096);
  ASSERT_EQ(mincore(bytes, kFileBytes, resident.data()), 0);
  EXPECT_LE(std::count_if(resident.begin(), resident.end(),
                          [](unsigned char page) { return page & 1; }),
            2);
}

TEST_F(GrowingFileTest, SignalsTakeNoSpaceFromIt) {
  interruptions = 2;
  ASSERT_NE(Create(), nullptr);
  interruptions = 2;
  GrowingArray array(&file_, size_t{1} << 20, 1024, 100);
  EXPECT_TRUE(array.Reach(99));
  EXPECT_EQ(interruptions, 0);
}

TEST_F(GrowingFileTest, AFileThatCannotBeHadIsNull) {
  EXPECT_EQ(file_.Create(-1, "growing", kFileBytes, kHeadBytes), nullptr);
  ASSERT_NE(Create(), nullptr);
  GrowingFile second;
  EXPECT_EQ(second.Create(folder_, "growing", kFileBytes, kHeadBytes), nullptr);
}

TEST_F(GrowingFileTest, AProgramsLimitOfFilesIsHeeded) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = kFileBytes - 1;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(Create(), nullptr);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(Create(), nullptr);
}

// A daemon closes descriptors that it does not know, and opens files of its
// own.
TEST_F(GrowingFileTest, GrowsWithoutItsDescriptorAndTouchesNoOther) {
  auto* const bytes = static_cast<char*>(Create());
  ASSERT_NE(bytes, nullptr);
  int descriptor = 1000;
  struct stat wanted;
  struct stat found;
  ASSERT_EQ(stat(Path().c_str(), &wanted), 0);
  while (fstat(descriptor, &found) != 0 || found.st_ino != wanted.st_ino) {
    ASSERT_LT(++descriptor, 1100);
  }
  const std::string other = testing::TempDir() + "/other";
  const int file = open(other.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  ASSERT_EQ(dup2(file, descriptor), descriptor);
  close(file);
  GrowingArray array(&file_, kHeadBytes, 1024, 1 << 20);
  for (uint32_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(array.Reach(i));
    bytes[kHeadBytes + i * 1024] = 'x';
  }
  EXPECT_GE(SpaceBytes(), 2000 * 1024);
  file_.Close();
  // The other file was neither grown nor closed.
  EXPECT_EQ(fstat(descriptor, &found), 0);
  EXPECT_EQ(found.st_size, 0);
  close(descriptor);
  unlink(other.c_str());
}

}  // namespace
}  // namespace footprint::profiling_internal

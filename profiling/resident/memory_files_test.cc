// Tests what memory_files.h promises.

#include "footprint/profiling/resident/memory_files.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kFileBytes = int64_t{32} << 20;
constexpr char kMemoryFolder[] = "/dev/shm";
constexpr char kNoFolder[] = "/none";

TEST(MemoryFilesTest, FindsEachMountOfATmpfs) {
  const std::vector<MemoryMount> mounts = FindMemoryMounts(
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
      "36 22 0:25 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw,inode64\n"
      "37 22 0:25 /sub /mnt rw master:1 - tmpfs tmpfs rw\n"
      "38 22 1:300 / /with\\040blank rw - tmpfs none rw\n"
      "39 22 0:7 / /proc rw - proc tmpfs rw\n"
      "cut off - tmpfs\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].path, "/dev/shm");
  EXPECT_EQ(mounts[0].device, "00:19");
  EXPECT_EQ(mounts[1].path, "/mnt");
  EXPECT_EQ(mounts[1].device, "00:19");
  EXPECT_EQ(mounts[2].path, "/with blank");
  EXPECT_EQ(mounts[2].device, "01:12c");
}

// Tests with an unmapped file on a tmpfs of this machine.
class WrittenFileTest : public testing::Test {
 protected:
  void SetUp() override {
    struct statfs facts;
    constexpr int64_t kTmpfs = 0x01021994;
    if (statfs(kMemoryFolder, &facts) != 0 || facts.f_type != kTmpfs) {
      GTEST_SKIP() << kMemoryFolder << " is no tmpfs here";
    }
    folder_ = std::string(kMemoryFolder) + "/files-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    struct stat folder;
    ASSERT_EQ(stat(folder_.c_str(), &folder), 0);
    device_ = absl::StrFormat("%02x:%02x", major(folder.st_dev),
                              minor(folder.st_dev));
  }
  void TearDown() override {
    if (folder_.empty()) return;
    unlink((folder_ + "/file").c_str());
    rmdir(folder_.c_str());
  }
  void Write() {
    ASSERT_THAT(
        ReplaceFile(folder_ + "/file", std::string(size_t{kFileBytes}, 'x'),
                    ToDisk::kNoFsync),
        IsOk());
  }

  std::string folder_;
  std::string device_;
};

// Other programs may write there meanwhile, so the bounds are wide.
TEST_F(WrittenFileTest, CountsWhatNobodyHasMapped) {
  MemoryFiles files(kNoFolder);
  files.Look();
  EXPECT_LT(files.grown_bytes(), kFileBytes / 2);
  Write();
  EXPECT_LT(files.grown_bytes(), kFileBytes / 2) << "as of the last look";
  files.Look();
  EXPECT_GE(files.grown_bytes(), kFileBytes / 2);
  EXPECT_LT(files.grown_bytes(), kFileBytes * 3 / 2)
      << "a file system that is mounted twice has its files once";
  EXPECT_LT(files.UnmappedBytes({{device_, kFileBytes}}), kFileBytes / 2);
  EXPECT_GE(files.UnmappedBytes({{"ff:ff", kFileBytes}}), kFileBytes / 2);
}

TEST_F(WrittenFileTest, TheAgentsFolderDoesNotCount) {
  MemoryFiles files(folder_);
  Write();
  files.Look();
  EXPECT_LT(files.grown_bytes(), kFileBytes / 2);
}

}  // namespace
}  // namespace footprint

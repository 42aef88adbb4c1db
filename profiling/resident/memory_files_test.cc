// Tests what memory_files.h promises.

#include "footprint/profiling/resident/memory_files.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/resident/mounts.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kFileBytes = int64_t{32} << 20;
constexpr char kMemoryFolder[] = "/dev/shm";
constexpr char kNoFolder[] = "/none";

// Tests with an unmapped file on a tmpfs of this machine.
class WrittenFileTest : public testing::Test {
 protected:
  void SetUp() override {
    struct statfs facts;
    constexpr int64_t kTmpfs = 0x01021994;
    if (statfs(kMemoryFolder, &facts) != 0 || facts.f_type != kTmpfs) {
      GTEST_SKIP() << kMemoryFolder << " is not a tmpfs here";
    }
    folder_ = std::string(kMemoryFolder) + "/files-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    struct stat folder;
    ASSERT_EQ(stat(folder_.c_str(), &folder), 0);
    device_ = DeviceName(major(folder.st_dev), minor(folder.st_dev));
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
  MemoryFiles files(ReadMounts(), kNoFolder);
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
  MemoryFiles files(ReadMounts(), folder_);
  Write();
  files.Look();
  EXPECT_LT(files.grown_bytes(), kFileBytes / 2);
}

}  // namespace
}  // namespace footprint

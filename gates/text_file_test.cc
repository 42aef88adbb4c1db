#include "footprint/gates/text_file.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/text_file_XXXXXX";
    ASSERT_NE(mkdtemp(&name[0]), nullptr);
    folder_ = name;
  }
  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }
  std::set<std::string> Files() const {
    std::set<std::string> files;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') files.insert(entry->d_name);
    }
    closedir(folder);
    return files;
  }

  std::string folder_;
};

TEST_F(TextFileTest, ReadsWhatWasWritten) {
  const std::string text("a\0b\r\n", 5);
  ASSERT_TRUE(ReplaceTextFile(Path("f"), text).ok());
  EXPECT_EQ(*ReadTextFile(Path("f")), text);
  ASSERT_TRUE(ReplaceTextFile(Path("f"), "").ok());
  EXPECT_EQ(*ReadTextFile(Path("f")), "");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

TEST_F(TextFileTest, KeepsPermissionsAndLinks) {
  ASSERT_TRUE(ReplaceTextFile(Path("f"), "old").ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0640), 0);
  ASSERT_EQ(symlink("f", Path("link").c_str()), 0);
  ASSERT_TRUE(ReplaceTextFile(Path("link"), "new").ok());
  EXPECT_EQ(*ReadTextFile(Path("f")), "new");
  struct stat facts;
  ASSERT_EQ(lstat(Path("link").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));
  ASSERT_EQ(stat(Path("f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST_F(TextFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(ReadTextFile(Path("none")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadTextFile(folder_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplaceTextFile(Path("none/f"), "x").code(),
            absl::StatusCode::kNotFound);
}

// Holds for root too, whom the file system would let through.
TEST_F(TextFileTest, LeavesReadOnlyFilesAlone) {
  ASSERT_TRUE(ReplaceTextFile(Path("f"), "old").ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0444), 0);
  const absl::Status status = ReplaceTextFile(Path("f"), "new");
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_EQ(*ReadTextFile(Path("f")), "old");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

// A limit on the file's size fails a write half-way, as a full disk does.
TEST_F(TextFileTest, AFullDiskLosesNothing) {
  ASSERT_TRUE(ReplaceTextFile(Path("f"), "old").ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit small = {4096, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status =
      ReplaceTextFile(Path("f"), std::string(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(*ReadTextFile(Path("f")), "old");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

TEST_F(TextFileTest, ALockIsHeldByOne) {
  {
    absl::StatusOr<FileLock> first = FileLock::TryAcquire(folder_);
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = FileLock::TryAcquire(folder_).status();
    EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(second.message()),
                HasSubstr("held by another process"));
  }
  EXPECT_TRUE(FileLock::TryAcquire(folder_).ok());
  EXPECT_EQ(FileLock::TryAcquire(Path("none")).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace footprint

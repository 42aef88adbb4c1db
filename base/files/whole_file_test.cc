#include "footprint/base/files/whole_file.h"

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
using testing::IsEmpty;

class WholeFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/whole_file_XXXXXX";
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

TEST_F(WholeFileTest, ReadsWhatWasWritten) {
  const std::string text("a\0b\r\n", 5);
  ASSERT_TRUE(ReplaceFile(Path("f"), text, ToDisk::kFlush).ok());
  EXPECT_EQ(*ReadWholeFile(Path("f")), text);
  ASSERT_TRUE(ReplaceFile(Path("f"), "", ToDisk::kFlush).ok());
  EXPECT_EQ(*ReadWholeFile(Path("f")), "");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

TEST_F(WholeFileTest, KeepsPermissionsAndLinks) {
  ASSERT_TRUE(ReplaceFile(Path("f"), "old", ToDisk::kFlush).ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0640), 0);
  ASSERT_EQ(symlink("f", Path("link").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(Path("link"), "new", ToDisk::kFlush).ok());
  EXPECT_EQ(*ReadWholeFile(Path("f")), "new");
  struct stat facts;
  ASSERT_EQ(lstat(Path("link").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));
  ASSERT_EQ(stat(Path("f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST_F(WholeFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(ReadWholeFile(Path("none")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadWholeFile(folder_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplaceFile(Path("none/f"), "x", ToDisk::kFlush).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(WholeFileTest, ALinkToNothingStaysALink) {
  ASSERT_EQ(symlink("f", Path("link").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(Path("link"), "new", ToDisk::kFlush).ok());
  EXPECT_EQ(*ReadWholeFile(Path("f")), "new");
  EXPECT_THAT(Files(), ElementsAre("f", "link"));
}

// Holds for root too, whom the file system would let through.
TEST_F(WholeFileTest, LeavesReadOnlyFilesAlone) {
  ASSERT_TRUE(ReplaceFile(Path("f"), "old", ToDisk::kFlush).ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0444), 0);
  const absl::Status status = ReplaceFile(Path("f"), "new", ToDisk::kFlush);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_EQ(*ReadWholeFile(Path("f")), "old");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

// A limit on the file's size fails a write half-way, as a full disk does.
TEST_F(WholeFileTest, AFullDiskLosesNothing) {
  ASSERT_TRUE(ReplaceFile(Path("f"), "old", ToDisk::kFlush).ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit small = {4096, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status =
      ReplaceFile(Path("f"), std::string(100000, 'x'), ToDisk::kFlush);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(*ReadWholeFile(Path("f")), "old");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

// A pipe would hold a reader up, and a device would be replaced by a file.
TEST_F(WholeFileTest, LeavesAloneWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  for (const std::string& path : {Path("pipe"), folder_}) {
    EXPECT_EQ(ReadWholeFile(path).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReplaceFile(path, "x", ToDisk::kFlush).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(CheckReplaceable(path).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(Files(), ElementsAre("pipe"));
}

TEST_F(WholeFileTest, SaysBeforehandWhatCouldNotBeReplaced) {
  EXPECT_TRUE(CheckReplaceable(Path("f")).ok());
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_EQ(CheckReplaceable(Path("none/f")).code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(ReplaceFile(Path("f"), "old", ToDisk::kFlush).ok());
  EXPECT_TRUE(CheckReplaceable(Path("f")).ok());
  ASSERT_EQ(chmod(Path("f").c_str(), 0444), 0);
  EXPECT_EQ(CheckReplaceable(Path("f")).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(*ReadWholeFile(Path("f")), "old");
  EXPECT_THAT(Files(), ElementsAre("f"));
}

}  // namespace
}  // namespace footprint

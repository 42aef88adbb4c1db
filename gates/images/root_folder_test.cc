#include "footprint/gates/images/root_folder.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// A root without this user could not run a sandbox either.
constexpr uid_t kOwner = 65534;

class RootFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    path_ = TestPath(absl::StrCat("root", ++count));
    absl::StatusOr<RootFolder> root = RootFolder::Make(path_, kOwner);
    ASSERT_THAT(root, IsOk());
    root_ = std::make_unique<RootFolder>(*std::move(root));
  }

  std::string In(const std::string& path) const {
    return absl::StrCat(path_, "/", path);
  }

  void Write(const std::string& path, const std::string& bytes) {
    const absl::StatusOr<FileDescriptor> file = root_->MakeFile(path, false);
    ASSERT_THAT(file, IsOk());
    ASSERT_TRUE(
        WriteOn(file->get(), bytes.data(), static_cast<int64_t>(bytes.size())));
  }

  struct stat About(const std::string& path) const {
    struct stat about = {};
    EXPECT_EQ(lstat(In(path).c_str(), &about), 0) << path;
    return about;
  }

  std::string path_;
  std::unique_ptr<RootFolder> root_;
};

TEST_F(RootFolderTest, FilesHaveTheirFoldersModesAndOwner) {
  const mode_t before = umask(0077);
  EXPECT_THAT(root_->MakeFile("a/b/run", true), IsOk());
  EXPECT_THAT(root_->MakeFile("a/b/data", false), IsOk());
  EXPECT_THAT(root_->MakeFolder("a/c"), IsOk());
  umask(before);
  EXPECT_EQ(About("a").st_mode, S_IFDIR | 0755u);
  EXPECT_EQ(About("a/c").st_mode, S_IFDIR | 0755u);
  EXPECT_EQ(About("a/b/run").st_mode, S_IFREG | 0755u);
  EXPECT_EQ(About("a/b/data").st_mode, S_IFREG | 0644u);
  EXPECT_EQ(root_->made_count(), 5);
  const uid_t owner = geteuid() == 0 ? kOwner : geteuid();
  for (const char* each : {".", "a", "a/c", "a/b/run"}) {
    EXPECT_EQ(About(each).st_uid, owner) << each;
  }
}

TEST_F(RootFolderTest, ANewFileTakesThePlaceOfEverything) {
  Write("old", "1");
  ASSERT_THAT(root_->MakeHardLink("other", "old"), IsOk());
  Write("old", "2");
  EXPECT_EQ(ReadTestFile(In("old")), "2");
  EXPECT_EQ(ReadTestFile(In("other")), "1");
  Write("folder/in/it", "3");
  Write("folder", "4");
  EXPECT_EQ(ReadTestFile(In("folder")), "4");
  ASSERT_THAT(root_->MakeSymbolicLink("folder", "old"), IsOk());
  Write("folder", "5");
  EXPECT_EQ(ReadTestFile(In("folder")), "5");
  EXPECT_EQ(ReadTestFile(In("old")), "2");
  ASSERT_THAT(root_->MakeFolder("folder"), IsOk());
  Write("folder/kept", "6");
  ASSERT_THAT(root_->MakeFolder("folder"), IsOk());
  EXPECT_EQ(ReadTestFile(In("folder/kept")), "6");
}

TEST_F(RootFolderTest, AFolderThatWasRemovedIsMadeAnew) {
  Write("a/b/c", "1");
  ASSERT_THAT(root_->Remove("a"), IsOk());
  Write("a/b/c", "2");
  EXPECT_EQ(ReadTestFile(In("a/b/c")), "2");
  ASSERT_THAT(root_->Clear("", [](const std::string&) { return false; }),
              IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  Write("a/b/c", "3");
  EXPECT_EQ(ReadTestFile(In("a/b/c")), "3");
}

TEST_F(RootFolderTest, NothingIsDoneBehindALink) {
  Write("folder/file", "1");
  ASSERT_THAT(root_->MakeSymbolicLink("link", "folder"), IsOk());
  const auto is_refused = StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("behind 'link', which is a link"));
  EXPECT_THAT(root_->MakeFile("link/x", false), is_refused);
  EXPECT_THAT(root_->MakeFolder("link/x/y"), is_refused);
  EXPECT_THAT(root_->EnsureFolder("link/x"), is_refused);
  EXPECT_THAT(root_->MakeSymbolicLink("link/x", "y"), is_refused);
  EXPECT_THAT(root_->MakeHardLink("link/x", "folder/file"), is_refused);
  EXPECT_THAT(root_->MakeHardLink("x", "link/file"), is_refused);
  const auto is_kept = [](const std::string&) { return false; };
  for (const char* each : {"link/file", "folder/file/x"}) {
    EXPECT_THAT(root_->Remove(each), IsOk());
    EXPECT_THAT(root_->Clear(each, is_kept), IsOk());
  }
  EXPECT_THAT(root_->Clear("link", is_kept), IsOk());
  EXPECT_EQ(ReadTestFile(In("folder/file")), "1");
  EXPECT_THAT(root_->MakeFile("folder/file/x", false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("which is a file")));
}

TEST_F(RootFolderTest, ClearKeepsWhatItIsTold) {
  Write("a/kept/x", "1");
  Write("a/kept/y", "1");
  Write("a/gone/x", "1");
  Write("a/z", "1");
  Write("b", "1");
  ASSERT_THAT(root_->Clear("a",
                           [](const std::string& path) {
                             return path == "a/kept" || path == "a/kept/x";
                           }),
              IsOk());
  EXPECT_TRUE(std::filesystem::exists(In("a/kept/x")));
  EXPECT_FALSE(std::filesystem::exists(In("a/kept/y")));
  EXPECT_FALSE(std::filesystem::exists(In("a/gone")));
  EXPECT_FALSE(std::filesystem::exists(In("a/z")));
  EXPECT_TRUE(std::filesystem::exists(In("b")));
}

TEST_F(RootFolderTest, NothingIsThereIsNoError) {
  EXPECT_THAT(root_->Remove("missing"), IsOk());
  EXPECT_THAT(root_->Remove("missing/x"), IsOk());
  EXPECT_THAT(
      root_->Clear("missing/x", [](const std::string&) { return true; }),
      IsOk());
  EXPECT_THAT(RootFolder::Make(path_, kOwner).status(), testing::Not(IsOk()));
}

TEST_F(RootFolderTest, EnsureFolderReplacesNothing) {
  Write("file", "1");
  ASSERT_THAT(root_->MakeSymbolicLink("link", "."), IsOk());
  EXPECT_THAT(root_->EnsureFolder("new/folder"), IsOk());
  EXPECT_THAT(root_->EnsureFolder("new/folder"), IsOk());
  EXPECT_THAT(root_->EnsureFolder("file"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'file' of the image is a file")));
  EXPECT_THAT(root_->EnsureFolder("link"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'link' of the image is a link")));
  EXPECT_EQ(ReadTestFile(In("file")), "1");
}

// The next descriptor is the first one that the process may not have.
TEST_F(RootFolderTest, AProcessWithoutDescriptorsIsTheHostsShortage) {
  ASSERT_THAT(root_->MakeFile("a/file", false), IsOk());
  const int next = dup(STDIN_FILENO);
  ASSERT_GE(next, 0);
  ASSERT_EQ(close(next), 0);
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status made = root_->MakeFile("b/file", false).status();
  const absl::Status linked = root_->MakeHardLink("link", "a/file");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(made, StatusIs(absl::StatusCode::kAborted,
                             HasSubstr("Too many open files")));
  EXPECT_THAT(linked, StatusIs(absl::StatusCode::kAborted,
                               HasSubstr("Too many open files")));
}

}  // namespace
}  // namespace footprint

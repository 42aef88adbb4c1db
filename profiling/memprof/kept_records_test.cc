#include "footprint/profiling/memprof/kept_records.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string NewFolder() {
  static int count = 0;
  const std::string folder = TestPath(absl::StrCat("records", ++count));
  std::filesystem::create_directory(folder);
  return folder;
}

using Image = std::map<std::string, std::string>;

// Returns the files of each image, by their names.
std::vector<Image> ReadImages(const KeptRecords& kept,
                              const std::string& folder) {
  std::vector<Image> images;
  kept.ForEachImage([&] {
    images.emplace_back();
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      images.back()[entry.path().filename()] = *ReadWholeFile(entry.path());
    }
  });
  return images;
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path) << bytes;
}

TEST(KeptRecordsTest, AFolderThatWasRemovedCanBeRead) {
  const std::string folder = NewFolder();
  KeptRecords kept(folder);
  EXPECT_FALSE(kept.IsFolderRemoved());
  Write(folder + "/1.0.record", "first");
  Write(folder + "/agent.so", "code");
  kept.Look();
  Write(folder + "/1.1.record", "second");
  Write(folder + "/1.0.sites", "sites");
  kept.Look();
  // The kept record has what is written later, too.
  std::ofstream(folder + "/1.0.record", std::ios::app) << " and more";
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(kept.IsFolderRemoved());
  EXPECT_THAT(ReadImages(kept, folder),
              ElementsAre(Image{{"1.0.record", "first and more"},
                                {"1.0.sites", "sites"}},
                          Image{{"1.1.record", "second"}}));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// The kernel says that there is one, long before the time is over.
TEST(KeptRecordsTest, AFileIsKeptWhenItIsCreated) {
  const std::string folder = NewFolder();
  KeptRecords kept(folder);
  std::thread program([&] {
    Write(folder + "/1.0.record", "short");
    usleep(200'000);
    std::filesystem::remove_all(folder);
  });
  kept.Wait(/*milliseconds=*/2000, FileDescriptor());
  program.join();
  EXPECT_THAT(ReadImages(kept, folder),
              ElementsAre(Image{{"1.0.record", "short"}}));
}

TEST(KeptRecordsTest, AnotherFolderInItsPlaceStays) {
  const std::string folder = NewFolder();
  KeptRecords kept(folder);
  Write(folder + "/1.0.record", "ours");
  kept.Look();
  std::filesystem::rename(folder, folder + ".moved");
  std::filesystem::create_directory(folder);
  EXPECT_TRUE(kept.IsFolderRemoved());
  EXPECT_THAT(ReadImages(kept, folder), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// A pipe would be waited for, and a link may lead anywhere.
TEST(KeptRecordsTest, OnlyFilesAreKept) {
  const std::string folder = NewFolder();
  KeptRecords kept(folder);
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", folder + "/link");
  std::filesystem::create_directory(folder + "/folder");
  kept.Look();
  std::filesystem::remove_all(folder);
  EXPECT_THAT(ReadImages(kept, folder), IsEmpty());
}

TEST(KeptRecordsTest, DescriptorsAreLeftForOthers) {
  const std::string folder = NewFolder();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  KeptRecords kept(folder);
  for (int i = 0; i < 200; ++i)
    Write(absl::StrCat(folder, "/", i, ".0.record"), "x");
  kept.Look();
  std::filesystem::remove_all(folder);
  EXPECT_THAT(ReadImages(kept, folder), SizeIs(25));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace footprint

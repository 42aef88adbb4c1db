#include "footprint/gates/images/bundle_or_image.h"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TestImageFiles Files() {
  TestImage image;
  image.layers.push_back(
      {UstarEntry("bin/run", '0', "#!/bin/sh\n", "", 0755) + TarEnd()});
  image.settings = R"("Entrypoint":["/bin/run"],"Env":["A=1"],)"
                   R"("WorkingDir":"/srv","Labels":{"org.footprint.bundle":)"
                   R"("schema_version: 1 budget_bytes: 1000"})";
  return FilesOf(image);
}

std::string BundleFolder() {
  WriteTestFile("bundle/bundle.textproto",
                "schema_version: 1 kind: NATIVE_PROGRAM entry: \"run\"");
  WriteTestFile("bundle/run", "#!/bin/sh\n");
  return TestPath("bundle");
}

std::string WorkFolder() {
  const std::string folder = TestPath("work");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

class BundleOrImageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(TestPath("bundle"));
  }
};

TEST_F(BundleOrImageTest, AnImageIsReadAndUnpacked) {
  const TestImageFiles files = Files();
  for (const std::string& path : {WriteImageFolder("image", files.files),
                                  WriteImageArchive("i.tar", files.files)}) {
    EXPECT_TRUE(IsImagePath(path, BundleLimits()));
    absl::StatusOr<BundleOrImage> read =
        ReadBundleOrImage(path, WorkFolder(), BundleLimits());
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->manifest.entry(), "/bin/run");
    EXPECT_EQ(read->manifest.budget_bytes(), 1000);
    EXPECT_EQ(read->image_digest,
              absl::StrCat("sha256:", files.manifest_sha256));
    EXPECT_EQ(read->image_folder, "");
    const std::string work = WorkFolder();
    const absl::StatusOr<BundleOrImage> unpacked =
        UnpackBundleOrImage(path, work, geteuid(), BundleLimits());
    ASSERT_THAT(unpacked, IsOk());
    EXPECT_EQ(unpacked->image_folder, absl::StrCat(work, "/image"));
    EXPECT_EQ(unpacked->bundle_folder, "");
    EXPECT_EQ(unpacked->working_folder, "/srv");
    EXPECT_THAT(unpacked->environment, ElementsAre("A=1"));
    EXPECT_EQ(ReadTestFile(absl::StrCat(work, "/image/bin/run")),
              "#!/bin/sh\n");
  }
}

// A bundle may have 10,000 files, and an image more: a conda environment has
// some 100,000.
TEST_F(BundleOrImageTest, AnImageMayHaveMoreFilesThanABundle) {
  const int file_count = static_cast<int>(BundleLimits().entries) + 1;
  std::string layer;
  for (int i = 0; i < file_count; ++i) {
    layer += UstarEntry(absl::StrCat("data/", i), '0');
  }
  TestImage image;
  image.layers.push_back({layer + TarEnd()});
  const std::string work = WorkFolder();
  ASSERT_THAT(
      UnpackBundleOrImage(WriteImageFolder("image", FilesOf(image).files), work,
                          geteuid(), BundleLimits()),
      IsOk());
  const std::filesystem::directory_iterator files(
      absl::StrCat(work, "/image/data"));
  EXPECT_EQ(std::distance(files, std::filesystem::directory_iterator()),
            file_count);
}

TEST_F(BundleOrImageTest, ABundleStaysABundle) {
  const std::string archive = TestPath("model.bundle");
  ASSERT_THAT(MakeArchiveToSend(BundleFolder(), archive, TestPath("")), IsOk());
  EXPECT_FALSE(IsImagePath(archive, BundleLimits()));
  EXPECT_FALSE(IsImagePath(archive, LimitsOfOwnImage()));
  EXPECT_FALSE(IsImagePath(TestPath("bundle"), BundleLimits()));
  EXPECT_FALSE(IsImagePath(TestPath("missing"), BundleLimits()));
  const std::string work = WorkFolder();
  const absl::StatusOr<BundleOrImage> unpacked =
      UnpackBundleOrImage(archive, work, geteuid(), BundleLimits());
  ASSERT_THAT(unpacked, IsOk());
  EXPECT_EQ(unpacked->manifest.entry(), "run");
  EXPECT_EQ(unpacked->bundle_folder, absl::StrCat(work, "/bundle"));
  EXPECT_EQ(unpacked->image_folder, "");
  EXPECT_EQ(unpacked->image_digest, "");
  EXPECT_THAT(
      ReadBundleOrImage(absl::StrCat(archive, "@sha256:", std::string(64, 'a')),
                        work, BundleLimits()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no image")));
}

// The hash of the archive, by which a server finds a verdict, follows from the
// image's digest alone.
TEST_F(BundleOrImageTest, EachFormOfAnImageGivesTheSameArchive) {
  TestImageFiles files = Files();
  const std::string plain = WriteImageArchive("i.tar", files.files);
  const std::string packed =
      WriteTestFile("i.tar.gz", GzipOf(ReadTestFile(plain)));
  // Other blobs, names and annotations do not matter.
  TestImage another;
  another.settings = R"("Cmd":["/another"])";
  const TestImageFiles others = FilesOf(another);
  files.files.insert(others.files.begin(), others.files.end());
  files.files["manifest.json"] = "[]";
  files.files["index.json"] = TestIndex({others.descriptor, files.descriptor});
  const std::string folder = WriteImageFolder("image", files.files);
  std::string first;
  for (const std::string& name :
       {plain, packed,
        absl::StrCat(folder, "@sha256:", files.manifest_sha256)}) {
    const std::string archive = TestPath("made.tar");
    ASSERT_THAT(MakeArchiveToSend(name, archive, TestPath("")), IsOk()) << name;
    const std::string bytes = ReadTestFile(archive);
    if (first.empty()) first = bytes;
    EXPECT_EQ(Sha256Hex(bytes), Sha256Hex(first)) << name;
    const absl::StatusOr<BundleOrImage> read =
        ReadBundleOrImage(archive, WorkFolder(), BundleLimits());
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->image_digest,
              absl::StrCat("sha256:", files.manifest_sha256));
  }
  // The name must choose one of them.
  EXPECT_THAT(MakeArchiveToSend(folder, TestPath("made.tar"), TestPath("")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there are 2 images")));
}

TEST_F(BundleOrImageTest, AnImageBeyondTheLimitIsNotPacked) {
  const std::string folder = WriteImageFolder("image", Files().files);
  const std::string target = TestPath("never.tar");
  PackingOptions options;
  options.limits.archive_bytes = 1000;
  EXPECT_THAT(MakeArchiveToSend(folder, target, TestPath(""), options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("the archive gets larger than 1000 B")));
  options.limits = BundleLimits();
  options.limits.is_stopped = [] { return true; };
  EXPECT_THAT(MakeArchiveToSend(folder, target, TestPath(""), options),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(BundleOrImageTest, ADamagedBlobIsNotPacked) {
  TestImageFiles files = Files();
  for (auto& [name, bytes] : files.files) {
    if (bytes.size() > 1000) bytes[600] = 'x';
  }
  const std::string target = TestPath("never.tar");
  EXPECT_THAT(
      MakeArchiveToSend(WriteImageFolder("image", files.files), target,
                        TestPath("")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has the hash")));
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(BundleOrImageTest, AnEmptyFileIsNeither) {
  for (const std::string& bytes : {std::string(), GzipOf("")}) {
    const std::string path = WriteTestFile("empty", bytes);
    EXPECT_FALSE(IsImagePath(path, LimitsOfOwnImage()));
    EXPECT_THAT(ReadBundleOrImage(path, TestPath(""), BundleLimits()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("; send a folder, what `submit FOLDER "
                                   "--make=FILE` writes of it, or")));
  }
}

TEST_F(BundleOrImageTest, FoldersOfPaths) {
  EXPECT_EQ(FolderOf("a"), ".");
  EXPECT_EQ(FolderOf("/a"), "/");
  EXPECT_EQ(FolderOf("/a/b"), "/a");
}

}  // namespace
}  // namespace footprint

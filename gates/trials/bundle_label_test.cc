#include "footprint/gates/trials/bundle_label.h"

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMostBytes = 1 << 30;

// Returns the path of a bundle whose manifest has this line, too.
std::string WriteBundle(const std::string& name, const std::string& line) {
  const std::string folder = TestPath(name);
  std::filesystem::create_directory(folder);
  WriteTestFile(name + "/run.sh", "#!/bin/sh\n");
  WriteTestFile(absl::StrCat(name, "/", kManifestName),
                absl::StrCat("schema_version: 1 kind: NATIVE_PROGRAM "
                             "entry: \"run.sh\"\n",
                             line));
  const std::string path = folder + ".bundle";
  EXPECT_THAT(MakeBundle(folder, path), IsOk());
  return path;
}

TEST(BundleLabelTest, TheLabelIsTheManifests) {
  EXPECT_THAT(ReadBundleLabel(WriteBundle("own", "label: \"//team:fit\""),
                              kMostBytes, {}),
              IsOkAndHolds("//team:fit"));
  EXPECT_THAT(ReadBundleLabel(WriteBundle("without", ""), kMostBytes, {}),
              IsOkAndHolds("//bundle:run.sh"));
}

TEST(BundleLabelTest, AnImageHasALabelToo) {
  TestImage image;
  image.settings = R"("Cmd":["run"],"Labels":{"org.footprint.bundle":)"
                   R"("schema_version: 1 label: '//team:image'"})";
  std::string path = WriteImageArchive("image.tar", FilesOf(image).files);
  EXPECT_THAT(ReadBundleLabel(path, kMostBytes, {}),
              IsOkAndHolds("//team:image"));
  // No other reader of the server's may see another label.
  path = WriteTestFile("image.tar.gz", GzipOf(ReadTestFile(path)));
  EXPECT_THAT(ReadBundleLabel(path, kMostBytes, {}),
              IsOkAndHolds("//team:image"));
  image.settings = R"("Cmd":["/bin/run"])";
  EXPECT_THAT(
      ReadBundleLabel(WriteImageArchive("image.tar", FilesOf(image).files),
                      kMostBytes, {}),
      IsOkAndHolds("//image:run"));
}

TEST(BundleLabelTest, AFaultyBundleHasNone) {
  EXPECT_THAT(
      ReadBundleLabel(WriteTestFile("faulty", "no archive"), kMostBytes, {}),
      StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadBundleLabel(WriteTestFile("empty", ""), kMostBytes, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(BundleLabelTest, ABundleBeyondALimitIsRefused) {
  const std::string path = TestPath("large");
  WriteTestFile("large", "");
  std::filesystem::resize_file(path, BundleLimits().archive_bytes + 1);
  EXPECT_THAT(ReadBundleLabel(path, kMostBytes, {}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       testing::HasSubstr("labels have owners here")));
}

TEST(BundleLabelTest, AReadCanBeStopped) {
  EXPECT_THAT(ReadBundleLabel(WriteBundle("stopped", ""), kMostBytes,
                              [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace footprint

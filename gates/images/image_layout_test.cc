#include "footprint/gates/images/image_layout.h"

#include <filesystem>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image_documents.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TestImageFiles Files() {
  TestImage image;
  image.layers.push_back({UstarEntry("run", '0', "x") + TarEnd()});
  return FilesOf(image);
}

class ImageLayoutTest : public testing::Test {
 protected:
  absl::StatusOr<absl::optional<ImageLayout>> Open(
      const std::string& path) const {
    return ImageLayout::Open(path, TestPath(""), limits_, EndOfTime(limits_));
  }

  // Writes the bytes as an archive, and expects that it is no image.
  void ExpectNone(const std::map<std::string, std::string>& files) const {
    const auto layout = Open(WriteImageArchive("none.tar", files));
    ASSERT_THAT(layout, IsOk());
    EXPECT_FALSE(layout->has_value());
  }

  void ExpectRefused(const std::string& path,
                     const std::string& message) const {
    EXPECT_THAT(Open(path), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr(message)));
  }

  BundleLimits limits_;
};

TEST_F(ImageLayoutTest, EachFormHasTheSameBlobs) {
  const TestImageFiles image = Files();
  const std::string archive = WriteImageArchive("image.tar", image.files);
  const std::string bytes = ReadTestFile(archive);
  for (const std::string& path :
       {WriteImageFolder("image", image.files), archive,
        WriteTestFile("image.tar.gz", GzipOf(bytes)),
        WriteTestFile("image.tar.zst", ZstdOf(bytes))}) {
    const auto layout = Open(path);
    ASSERT_THAT(layout, IsOk());
    ASSERT_TRUE(layout->has_value()) << path;
    EXPECT_THAT((*layout)->ReadIndex(), IsOk());
    const std::string& manifest =
        image.files.at(absl::StrCat("blobs/sha256/", image.manifest_sha256));
    BlobDescriptor blob;
    blob.sha256 = image.manifest_sha256;
    blob.size_bytes = static_cast<int64_t>(manifest.size());
    const absl::StatusOr<std::string> text = (*layout)->ReadDocument(blob);
    ASSERT_THAT(text, IsOk());
    EXPECT_EQ(*text, manifest);
    EXPECT_THAT((*layout)->OpenBlob(blob), IsOk());
    // The descriptor is checked.
    ++blob.size_bytes;
    EXPECT_THAT((*layout)->ReadDocument(blob),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT((*layout)->OpenBlob(blob),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("its descriptor says")));
  }
}

TEST_F(ImageLayoutTest, NothingStaysOfACompressedArchive) {
  const std::string folder = TestPath("scratch");
  std::filesystem::create_directories(folder);
  const std::string path = WriteTestFile(
      "image.tar.gz",
      GzipOf(ReadTestFile(WriteImageArchive("image.tar", Files().files))));
  const auto layout =
      ImageLayout::Open(path, folder, limits_, EndOfTime(limits_));
  ASSERT_THAT(layout, IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(ImageLayoutTest, ABlobWithAnotherHashIsRefused) {
  TestImageFiles image = Files();
  std::string& manifest =
      image.files[absl::StrCat("blobs/sha256/", image.manifest_sha256)];
  manifest[0] = ' ';
  BlobDescriptor blob;
  blob.sha256 = image.manifest_sha256;
  blob.size_bytes = static_cast<int64_t>(manifest.size());
  for (const std::string& path :
       {WriteImageFolder("changed", image.files),
        WriteImageArchive("changed.tar", image.files)}) {
    const auto layout = Open(path);
    ASSERT_THAT(layout, IsOk());
    EXPECT_THAT((*layout)->ReadDocument(blob),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("another size or hash")));
    EXPECT_THAT((*layout)->OpenBlob(blob),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("has the hash")));
  }
}

TEST_F(ImageLayoutTest, BundlesAndOtherArchivesAreNoImages) {
  std::map<std::string, std::string> files = Files().files;
  files["bundle.textproto"] = "";
  ExpectNone(files);
  const auto folder = Open(WriteImageFolder("both", files));
  ASSERT_THAT(folder, IsOk());
  EXPECT_FALSE(folder->has_value());
  ExpectNone({{"data", "x"}});
  files = Files().files;
  files.erase("oci-layout");
  ExpectNone(files);
}

TEST_F(ImageLayoutTest, IsImageReadsOnlyNames) {
  const auto is_image = [&](const std::string& path) {
    const absl::StatusOr<bool> found =
        ImageLayout::IsImage(path, limits_, EndOfTime(limits_));
    EXPECT_THAT(found, IsOk());
    return found.ok() && *found;
  };
  EXPECT_TRUE(is_image(WriteImageArchive("a.tar", {{"oci-layout", "bad"}})));
  EXPECT_FALSE(is_image(WriteImageArchive("b.tar", {{"other", "bad"}})));
  EXPECT_THAT(
      ImageLayout::IsImage(TestPath("none"), limits_, EndOfTime(limits_)),
      StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ImageLayoutTest, DamagedLayoutsAreRefused) {
  TestImageFiles image = Files();
  image.files["oci-layout"] = R"({"imageLayoutVersion":"3"})";
  ExpectRefused(WriteImageArchive("version.tar", image.files), "1.0.0 is read");
  ExpectRefused(WriteImageFolder("version", image.files), "1.0.0 is read");
  image.files["oci-layout"] = std::string(2 << 20, ' ');
  ExpectRefused(WriteImageArchive("large.tar", image.files), "the most");

  const std::string good =
      ReadTestFile(WriteImageArchive("good.tar", Files().files));
  ExpectRefused(
      WriteTestFile("twice.tar", UstarEntry("index.json", '0', "{}") + good),
      "'index.json' is twice in the image");
  ExpectRefused(
      WriteTestFile("link.tar",
                    UstarEntry("./index.json", '2', "", "/etc/passwd") + good),
      "'index.json' is not a file");
  ExpectRefused(WriteTestFile("cut.tar", good.substr(0, good.size() - 1024)),
                "no end mark");
}

// Docker before version 25 wrote a folder for each layer, a config whose name
// is its hash, manifest.json, and for an image with tags also repositories.
TEST_F(ImageLayoutTest, DockersOldFormatIsRefusedWithTheNextStep) {
  const std::string hash(64, 'a');
  const std::string layer = std::string(64, 'b');
  std::map<std::string, std::string> files = {
      {absl::StrCat(layer, "/VERSION"), "1.0"},
      {absl::StrCat(layer, "/json"), "{}"},
      {absl::StrCat(layer, "/layer.tar"), TarEnd()},
      {absl::StrCat(hash, ".json"), "{}"},
      {"manifest.json",
       absl::StrCat(R"([{"Config":")", hash, R"(.json","RepoTags":null,)",
                    R"("Layers":[")", layer, R"(/layer.tar"]}])")}};
  const std::string advice =
      "make it with `docker save` from version 25 on, or convert it by `skopeo "
      "copy docker-archive:OLD oci-archive:NEW`";
  ExpectRefused(WriteImageArchive("no_tags.tar", files), advice);
  files["repositories"] = R"({"model":{"latest":"b"}})";
  const std::string tagged = WriteImageArchive("tagged.tar", files);
  ExpectRefused(tagged, advice);
  ExpectRefused(WriteTestFile("tagged.tar.gz", GzipOf(ReadTestFile(tagged))),
                advice);
  // A bundle may have files of these names.
  files["bundle.textproto"] = "";
  ExpectNone(files);
}

// From version 25 on the archive is a layout, with the old files beside it.
TEST_F(ImageLayoutTest, DockersNewFormatIsAnImage) {
  TestImageFiles image = Files();
  image.files["manifest.json"] = R"([{"Config":"blobs/sha256/a"}])";
  image.files["repositories"] = "{}";
  const auto layout = Open(WriteImageArchive("docker.tar", image.files));
  ASSERT_THAT(layout, IsOk());
  ASSERT_TRUE(layout->has_value());
  EXPECT_THAT((*layout)->ReadIndex(),
              IsOkAndHolds(image.files.at("index.json")));
}

TEST_F(ImageLayoutTest, AnArchiveOfSeveralGzipMembersIsReadWhole) {
  const std::string bytes =
      ReadTestFile(WriteImageArchive("whole.tar", Files().files));
  const std::string packed =
      GzipOf(bytes.substr(0, 1000)) + GzipOf(bytes.substr(1000));
  const auto layout = Open(WriteTestFile("members.tar.gz", packed));
  ASSERT_THAT(layout, IsOk());
  ASSERT_TRUE(layout->has_value());
  EXPECT_THAT((*layout)->ReadIndex(), IsOk());
  ExpectRefused(
      WriteTestFile("cut.tar.gz", packed.substr(0, packed.size() - 20)),
      "cannot be read");
}

TEST_F(ImageLayoutTest, AMissingFileIsNamed) {
  TestImageFiles image = Files();
  image.files.erase("index.json");
  for (const std::string& path :
       {WriteImageFolder("missing", image.files),
        WriteImageArchive("missing.tar", image.files)}) {
    const auto layout = Open(path);
    ASSERT_THAT(layout, IsOk());
    EXPECT_THAT((*layout)->ReadIndex(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("the image has no 'index.json'")));
  }
}

TEST_F(ImageLayoutTest, ABombIsRefused) {
  limits_.unpacked_bytes = 1 << 20;
  std::map<std::string, std::string> files = Files().files;
  files["blobs/sha256/" + std::string(64, 'a')] = std::string(4 << 20, '\0');
  const std::string path = WriteTestFile(
      "bomb.tar.gz", GzipOf(ReadTestFile(WriteImageArchive("b.tar", files))));
  EXPECT_THAT(Open(path), StatusIs(absl::StatusCode::kResourceExhausted,
                                   HasSubstr("unpacks to more than")));
}

}  // namespace
}  // namespace footprint

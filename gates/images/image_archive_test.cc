#include "footprint/gates/images/image_archive.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_layout.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kLargeBytes = 1 << 20;

// An image with one layer of kLargeBytes, whose hash is computed in several
// steps. What the layer holds does not matter to the archive.
TestImageFiles LargeImage() {
  TestImage image;
  image.layers.push_back({std::string(kLargeBytes, 'a')});
  return FilesOf(image);
}

// Returns the name of the large blob.
std::string LargeBlob(const TestImageFiles& image) {
  for (const auto& [name, bytes] : image.files) {
    if (bytes.size() == kLargeBytes) return name;
  }
  return "";
}

// Packs an image, of which `change` gets the large blob's path just before the
// last step of its check.
absl::Status PackWhile(
    const std::function<void(const std::string& path)>& change) {
  const TestImageFiles image = LargeImage();
  const std::string folder = WriteImageFolder("image", image.files);
  const std::string blob = absl::StrCat(folder, "/", LargeBlob(image));
  const std::string target = TestPath("packed.tar");
  std::filesystem::remove(target);
  // The check of each blob asks once for each step of 256 KiB. The documents
  // take one step, and the blobs are checked in the order of their names.
  int steps_before = 0;
  for (const auto& each : image.files) {
    if (each.first == LargeBlob(image)) break;
    if (absl::StartsWith(each.first, "blobs/")) ++steps_before;
  }
  const int chosen_step = steps_before + kLargeBytes / (256 << 10);
  int step_count = 0;
  BundleLimits limits;
  limits.is_stopped = [&] {
    if (++step_count == chosen_step) change(blob);
    return false;
  };
  const absl::StatusOr<absl::optional<ImageLayout>> layout =
      ImageLayout::Open(folder, TestPath(""), limits, EndOfTime(limits));
  EXPECT_THAT(layout, IsOk());
  const absl::StatusOr<Image> read = ReadImage(**layout, "", folder);
  EXPECT_THAT(read, IsOk());
  step_count = 0;
  return MakeImageArchive(**layout, *read, target);
}

// Writes one byte into a file.
void Overwrite(const std::string& path, int64_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file.put(byte);
}

class ImageArchiveTest : public testing::Test {
 protected:
  void ExpectNoArchive(const absl::Status& status, const std::string& message) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                                 AllOf(HasSubstr("blobs/sha256/"),
                                       HasSubstr(message))));
    EXPECT_FALSE(std::filesystem::exists(TestPath("packed.tar")));
  }
};

TEST_F(ImageArchiveTest, AnImageThatStaysAsItIsIsPacked) {
  int call_count = 0;
  ASSERT_THAT(PackWhile([&](const std::string&) { ++call_count; }), IsOk());
  EXPECT_EQ(call_count, 1);
  EXPECT_TRUE(absl::StrContains(ReadTestFile(TestPath("packed.tar")),
                                std::string(kLargeBytes, 'a')));
}

// The first byte was checked already when it changes.
TEST_F(ImageArchiveTest, ABlobThatChangesAfterItsCheckIsNotPacked) {
  ExpectNoArchive(
      PackWhile([](const std::string& path) { Overwrite(path, 0, 'b'); }),
      "changed while it was packed");
}

TEST_F(ImageArchiveTest, ABlobThatIsCutOffIsNotPacked) {
  EXPECT_THAT(PackWhile([](const std::string& path) {
                std::filesystem::resize_file(path, kLargeBytes / 2);
              }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("blobs/sha256")));
  EXPECT_FALSE(std::filesystem::exists(TestPath("packed.tar")));
}

TEST_F(ImageArchiveTest, ABlobThatIsReplacedIsPackedAsItWasOpened) {
  EXPECT_THAT(PackWhile([](const std::string& path) {
                std::filesystem::remove(path);
                std::ofstream(path) << "other";
              }),
              IsOk());
  EXPECT_TRUE(absl::StrContains(ReadTestFile(TestPath("packed.tar")),
                                std::string(kLargeBytes, 'a')));
}

}  // namespace
}  // namespace footprint

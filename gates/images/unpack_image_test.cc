#include "footprint/gates/images/unpack_image.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/test_tar.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_layout.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kGolden[] = "gates/images/testdata/golden/";

class UnpackImageTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(TestPath("unpacked")); }

  absl::Status UnpackPath(const std::string& path) const {
    const SteadyTime end = EndOfTime(limits_);
    const absl::StatusOr<absl::optional<ImageLayout>> layout =
        ImageLayout::Open(path, TestPath(""), limits_, end);
    if (!layout.ok()) return layout.status();
    const absl::StatusOr<Image> image = ReadImage(**layout, "", path);
    if (!image.ok()) return image.status();
    return UnpackImage(**layout, *image, TestPath("unpacked"), geteuid(),
                       limits_, end);
  }

  absl::Status Unpack(const std::vector<std::string>& layers,
                      const std::string& settings = "") const {
    TestImage image;
    for (const std::string& each : layers) {
      image.layers.push_back({absl::StrCat(each, TarEnd())});
    }
    image.settings = absl::StrCat(R"("Cmd":["x"])", settings);
    return UnpackPath(WriteImageFolder("layout", FilesOf(image).files));
  }

  // Returns the files without the folders that are always made.
  static std::vector<std::string> Found() {
    std::vector<std::string> found;
    for (const std::string& line : ListFolder(TestPath("unpacked"))) {
      if (line != "dev d" && line != "proc d" && line != "tmp d") {
        found.push_back(line);
      }
    }
    return found;
  }

  BundleLimits limits_;
};

TEST_F(UnpackImageTest, LayersLieOverEachOther) {
  ASSERT_THAT(Unpack({UstarEntry("a/", '5') + UstarEntry("a/x", '0', "1") +
                          UstarEntry("b", '0', "2", "", 04755) +
                          UstarEntry("c", '2', "", "/a"),
                      UstarEntry("a/y", '0', "3") + UstarEntry("c", '0', "4")}),
              IsOk());
  EXPECT_THAT(Found(), ElementsAre("a d", "a/x f - 1 1", "a/y f - 1 3",
                                   "b f x 1 2", "c f - 1 4"));
}

// Whiteouts may stand before or after the files of their layer.
TEST_F(UnpackImageTest, WhiteoutsHideLowerLayersOnly) {
  const std::string lower = UstarEntry("a/x", '0', "1") +
                            UstarEntry("a/y", '0', "1") +
                            UstarEntry("b/x", '0', "1");
  const std::string hiding =
      UstarEntry("a/.wh..wh..opq", '0') + UstarEntry(".wh.b", '0');
  const std::string upper =
      UstarEntry("a/x", '0', "2") + UstarEntry("b/z", '0', "2");
  for (const std::string& each : {hiding + upper, upper + hiding}) {
    SetUp();
    ASSERT_THAT(Unpack({lower, each}), IsOk());
    EXPECT_THAT(Found(),
                ElementsAre("a d", "a/x f - 1 2", "b d", "b/z f - 1 2"));
  }
}

// If each of them looked at all files, this would take a minute.
TEST_F(UnpackImageTest, WhiteoutsThatAreRepeatedTakeNoTime) {
  std::string layer;
  for (int i = 0; i < 2000; ++i) {
    layer += UstarEntry(absl::StrCat("d/", i), '0');
  }
  for (int i = 0; i < 15000; ++i) {
    layer += UstarEntry("d/.wh..wh..opq", '0') + UstarEntry(".wh.d", '0');
  }
  limits_.entries = 50000;
  limits_.seconds = 15;
  EXPECT_THAT(Unpack({UstarEntry("d/old", '0'), layer}), IsOk());
  EXPECT_EQ(Found().size(), 2001u);
}

TEST_F(UnpackImageTest, NamesOfOtherWhiteoutsAreIgnored) {
  ASSERT_THAT(
      Unpack({UstarEntry("a", '0', "1"), UstarEntry(".wh..wh.plnk", '0') +
                                             UstarEntry(".wh.missing", '0')}),
      IsOk());
  EXPECT_THAT(Found(), ElementsAre("a f - 1 1"));
}

TEST_F(UnpackImageTest, DevicesOfDevAndRunAreLeftOut) {
  ASSERT_THAT(
      Unpack({UstarEntry("dev/null", '3') + UstarEntry("dev/sda", '4') +
              UstarEntry("run/initctl", '6') + UstarEntry("a", '0', "1")}),
      IsOk());
  EXPECT_THAT(Found(), ElementsAre("a f - 1 1"));
}

TEST_F(UnpackImageTest, LetterOutsideOfAsciiStay) {
  const std::string name = "usr/F\xc5\x91tan\xc3\xbas\xc3\xadtv\xc3\xa1ny.crt";
  ASSERT_THAT(Unpack({PaxHeader("path", name) + UstarEntry("short", '0', "1")}),
              IsOk());
  EXPECT_THAT(Found(), ElementsAre("usr d", name + " f - 1 1"));
}

TEST_F(UnpackImageTest, TheWorkingFolderIsMade) {
  ASSERT_THAT(Unpack({UstarEntry("a", '0', "1")}, R"(,"WorkingDir":"/srv/x")"),
              IsOk());
  EXPECT_THAT(Found(), ElementsAre("a f - 1 1", "srv d", "srv/x d"));
  // A folder behind a link is left to the run, and nothing is replaced.
  SetUp();
  ASSERT_THAT(
      Unpack({UstarEntry("a", '0', "1") + UstarEntry("srv", '2', "", "/other")},
             R"(,"WorkingDir":"/srv/x")"),
      IsOk());
  EXPECT_THAT(Found(), ElementsAre("a f - 1 1", "srv l /other"));
  SetUp();
  ASSERT_THAT(Unpack({UstarEntry("a", '0', "1")}, R"(,"WorkingDir":"/a")"),
              IsOk());
  EXPECT_THAT(Found(), ElementsAre("a f - 1 1"));
}

TEST_F(UnpackImageTest, TheBytesOfAllLayersCountTogether) {
  limits_.unpacked_bytes = 15;
  const std::string ten = UstarEntry("a", '0', std::string(10, 'a'));
  EXPECT_THAT(Unpack({ten}), IsOk());
  SetUp();
  EXPECT_THAT(Unpack({ten, ten}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("unpacks to more than 5 bytes")));
  EXPECT_FALSE(std::filesystem::exists(TestPath("unpacked")));
}

TEST_F(UnpackImageTest, AFolderThatIsThereStays) {
  std::filesystem::create_directories(TestPath("unpacked"));
  const std::string inner = WriteTestFile("unpacked/x", "1");
  EXPECT_THAT(Unpack({UstarEntry("a", '0')}), testing::Not(IsOk()));
  EXPECT_EQ(ReadTestFile(inner), "1");
}

// Some builders compress each file, or each chunk of a layer, as a member of
// its own (pigz, eStargz), which RFC 1952 allows. An empty member may end it.
TEST_F(UnpackImageTest, LayersOfSeveralMembersAreUnpackedWhole) {
  const std::string first = UstarEntry("a", '0', std::string(3000, '1'));
  const std::string second = UstarEntry("b", '0', "2") + TarEnd();
  const std::string bytes = first + second;
  const std::string gzip = GzipOf(first) + GzipOf(second) + GzipOf("");
  const std::string zstd = ZstdOf(first) + ZstdOf(second);
  // Members that begin in the middle of a header and of a file.
  const std::string torn = GzipOf(bytes.substr(0, 100)) +
                           GzipOf(bytes.substr(100, 1000)) + GzipOf("") +
                           GzipOf(bytes.substr(1100));
  for (const std::string& packed : {gzip, zstd, torn}) {
    SetUp();
    TestImage image;
    image.layers.push_back({bytes, packed});
    ASSERT_THAT(UnpackPath(WriteImageFolder("layout", FilesOf(image).files)),
                IsOk());
    EXPECT_THAT(Found(),
                ElementsAre(absl::StrCat("a f - 1 ", std::string(3000, '1')),
                            "b f - 1 2"));
  }
}

TEST_F(UnpackImageTest, UnpackingEndsWhenItIsTold) {
  int asked_count = 0;
  limits_.is_stopped = [&] { return ++asked_count == 4; };
  EXPECT_THAT(Unpack({UstarEntry("a", '0') + UstarEntry("b", '0')}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(std::filesystem::exists(TestPath("unpacked")));
}

// make_golden.sh made the image by umoci and skopeo, and listed what umoci
// unpacks of it.
TEST_F(UnpackImageTest, OtherToolsUnpackTheSame) {
  const std::vector<std::string> expected =
      absl::StrSplit(ReadTestFile(absl::StrCat(kGolden, "unpacked.txt")), '\n',
                     absl::SkipEmpty());
  ASSERT_GT(expected.size(), 10u);
  ASSERT_THAT(UnpackPath(absl::StrCat(kGolden, "image.tar")), IsOk());
  std::vector<std::string> found = Found();
  // The list has files of one line, without its end.
  for (std::string& each : found) absl::StripTrailingAsciiWhitespace(&each);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace footprint

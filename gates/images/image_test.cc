#include "footprint/gates/images/image.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image_layout.h"
#include "footprint/gates/images/test_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kIndexType[] = "application/vnd.oci.image.index.v1+json";
constexpr char kManifestType[] = "application/vnd.oci.image.manifest.v1+json";

class ImageTest : public testing::Test {
 protected:
  absl::StatusOr<Image> Read(const TestImageFiles& files,
                             const std::string& sha256 = "") const {
    const std::string path = WriteImageFolder("layout", files.files);
    const absl::StatusOr<absl::optional<ImageLayout>> layout =
        ImageLayout::Open(path, path, limits_, EndOfTime(limits_));
    EXPECT_THAT(layout, IsOk());
    return ReadImage(**layout, sha256, "model.tar");
  }

  absl::StatusOr<Image> ReadSettings(const std::string& settings) const {
    TestImage image;
    image.settings = settings;
    return Read(FilesOf(image));
  }

  // Adds the files of another image, and returns the index's entry for it.
  static std::string Add(const TestImage& image, const std::string& more,
                         TestImageFiles* files) {
    const TestImageFiles other = FilesOf(image);
    const std::string manifest =
        other.files.at(absl::StrCat("blobs/sha256/", other.manifest_sha256));
    files->files.insert(other.files.begin(), other.files.end());
    return AddTestBlob(manifest, kManifestType, more, files);
  }

  static std::string Platform(const std::string& architecture) {
    return absl::StrCat(R"(,"platform":{"os":"linux","architecture":")",
                        architecture, "\"}");
  }

  BundleLimits limits_;
};

TEST_F(ImageTest, TheSettingsAreTheDefaults) {
  const absl::StatusOr<Image> image = ReadSettings(
      R"("Entrypoint":["/opt/venv/bin/python","-B"],"Cmd":["fit.py"],)"
      R"("Env":["A=1"],"WorkingDir":"/srv")");
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->manifest.kind(), BundleManifest::NATIVE_PROGRAM);
  EXPECT_EQ(image->manifest.entry(), "/opt/venv/bin/python");
  EXPECT_THAT(image->manifest.arguments(), ElementsAre("-B", "fit.py"));
  EXPECT_EQ(image->manifest.label(), "//image:python");
  EXPECT_THAT(image->environment, ElementsAre("A=1"));
  EXPECT_EQ(image->working_folder, "/srv");
}

TEST_F(ImageTest, TheLabelReplacesWhatItNames) {
  absl::StatusOr<Image> image = ReadSettings(
      R"("Entrypoint":["/run"],"Cmd":["a"],"Labels":{"org.footprint.bundle":)"
      R"("schema_version: 1 budget_bytes: 7 arguments: 'b' arguments: 'c'"})");
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->manifest.entry(), "/run");
  EXPECT_THAT(image->manifest.arguments(), ElementsAre("b", "c"));
  EXPECT_EQ(image->manifest.budget_bytes(), 7);

  image = ReadSettings(
      R"("Entrypoint":["/run"],"Cmd":["a"],"Labels":{"org.footprint.bundle":)"
      R"("schema_version: 1 entry: 'other' label: '//a:b'"})");
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->manifest.entry(), "other");
  EXPECT_THAT(image->manifest.arguments(), ElementsAre());
  EXPECT_EQ(image->manifest.label(), "//a:b");

  image = ReadSettings(R"("Labels":{"org.footprint.bundle":"schema_version: 1 )"
                       R"(kind: PYTHON_SCRIPT entry: 'fit.py'"})");
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->manifest.kind(), BundleManifest::PYTHON_SCRIPT);
}

// gates/README.md shows this file.
TEST_F(ImageTest, TheLabelOfTheReadmeIsAManifest) {
  const std::string text = ReadTestFile("gates/images/testdata/Dockerfile");
  const std::string begin = "LABEL org.footprint.bundle=\"";
  const size_t at = text.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::string rest = text.substr(at + begin.size());
  const absl::StatusOr<BundleManifest> manifest =
      ParseImageManifest(rest.substr(0, rest.find('"')), "label");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->budget_bytes(), 400 << 20);
  EXPECT_EQ(manifest->label(), "//team/model:fit");
}

TEST_F(ImageTest, LabelsWithoutSenseAreRefused) {
  const auto label = [](const std::string& text) {
    return absl::StrCat(
        R"("Entrypoint":["/run"],"Labels":{"org.footprint.bundle":")", text,
        "\"}");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "schema_version is 0"},
      {"bad: 1", "org.footprint.bundle:1:4: "},
      {"schema_version: 1 budget_bytes: -1", "below zero"},
      {"schema_version: 1 kind: LOWMEM_CHECKPOINT", "send a checkpoint as a"},
      {"schema_version: 1 kind: PYTHON_SCRIPT", "entry is missing"},
      {"schema_version: 1 data: 'x'", "data is for bundles"},
  };
  for (const auto& [text, problem] : cases) {
    EXPECT_THAT(
        ReadSettings(label(text)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(problem)))
        << text;
  }
  EXPECT_THAT(ReadSettings(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("names no program")));
}

TEST_F(ImageTest, ImagesOfOtherMachinesAreRefused) {
  TestImage image;
  image.architecture = "s390x";
  EXPECT_THAT(Read(FilesOf(image)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("is for linux/s390x"),
                             HasSubstr(TestArchitecture()))));
}

TEST_F(ImageTest, AnIndexMayBeInAnIndexOnce) {
  TestImageFiles files;
  TestImage other;
  other.architecture = "s390x";
  TestImage own;
  own.settings = R"("Entrypoint":["/own"])";
  const std::string inner = TestIndex(
      {Add(other, Platform("s390x"), &files),
       Add(own, Platform(TestArchitecture()), &files),
       Add(TestImage(),
           R"(,"annotations":{"vnd.docker.reference.type":"attestation"})",
           &files)});
  const std::string nested = AddTestBlob(inner, kIndexType, "", &files);
  files.files["index.json"] = TestIndex({nested, nested});
  absl::StatusOr<Image> image = Read(files);
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->manifest.entry(), "/own");

  const std::string twice =
      AddTestBlob(TestIndex({nested}), kIndexType, "", &files);
  files.files["index.json"] = TestIndex({twice});
  EXPECT_THAT(Read(files),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("in an index that is in an index")));
}

TEST_F(ImageTest, SeveralManifestsNeedAChoice) {
  TestImageFiles files;
  TestImage first;
  first.settings = R"("Entrypoint":["/first"])";
  TestImage second;
  second.settings = R"("Entrypoint":["/second"])";
  TestImage other;
  other.architecture = "s390x";
  files.files["index.json"] = TestIndex(
      {Add(first,
           R"(,"annotations":{"org.opencontainers.image.ref.name":"v1"})",
           &files),
       Add(second, "", &files), Add(other, Platform("s390x"), &files)});
  const std::string first_sha256 = FilesOf(first).manifest_sha256;
  const std::string second_sha256 = FilesOf(second).manifest_sha256;
  EXPECT_THAT(
      Read(files),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("there are 2 images"), HasSubstr("(v1)"),
                     HasSubstr(second_sha256),
                     HasSubstr(absl::StrCat("model.tar@sha256:", first_sha256)),
                     Not(HasSubstr("s390x")))));
  const absl::StatusOr<Image> chosen = Read(files, second_sha256);
  ASSERT_THAT(chosen, IsOk());
  EXPECT_EQ(chosen->manifest.entry(), "/second");
  EXPECT_EQ(chosen->descriptor.sha256, second_sha256);
  EXPECT_THAT(Read(files, std::string(64, '0')),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("no manifest sha256:0000"),
                             HasSubstr("linux/s390x"))));
}

TEST_F(ImageTest, TwoTagsOfOneManifestAreOneImage) {
  TestImageFiles files = FilesOf(TestImage());
  files.files["index.json"] = TestIndex({files.descriptor, files.descriptor});
  EXPECT_THAT(Read(files), IsOk());
  files.files["index.json"] = TestIndex({});
  EXPECT_THAT(Read(files),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("it has no image that can be run")));
}

TEST_F(ImageTest, NamesMayEndWithADigest) {
  const std::string sha256(64, 'a');
  ImageName name = ParseImageName(absl::StrCat("a/b.tar@sha256:", sha256));
  EXPECT_EQ(name.path, "a/b.tar");
  EXPECT_EQ(name.sha256, sha256);
  for (const std::string& path :
       {std::string("a/b.tar"), std::string("a@sha256:12"),
        absl::StrCat("a@sha256:", sha256, "b")}) {
    name = ParseImageName(path);
    EXPECT_EQ(name.path, path);
    EXPECT_EQ(name.sha256, "");
  }
}

}  // namespace
}  // namespace footprint

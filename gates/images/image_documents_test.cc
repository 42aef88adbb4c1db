#include "footprint/gates/images/image_documents.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kHash[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kConfigType[] = "application/vnd.oci.image.config.v1+json";
constexpr char kLayerType[] = "application/vnd.oci.image.layer.v1.tar+gzip";

std::string Blob(const std::string& type, const std::string& more = "") {
  return absl::StrCat(R"({"mediaType":")", type, R"(","digest":"sha256:)",
                      kHash, R"(","size":7)", more, "}");
}

std::string Manifest(const std::string& layer_type = kLayerType) {
  return absl::StrCat(R"({"schemaVersion":2,"config":)", Blob(kConfigType),
                      R"(,"layers":[)", Blob(layer_type), "]}");
}

std::string Config(const std::string& settings) {
  return absl::StrCat(R"({"os":"linux","architecture":"amd64","config":{)",
                      settings, R"(},"rootfs":{"diff_ids":["sha256:)", kHash,
                      R"("]}})");
}

TEST(ImageDocumentsTest, AnIndexNamesItsManifests) {
  const absl::StatusOr<ImageIndex> index = ParseImageIndex(
      absl::StrCat(
          R"({"schemaVersion":2,"manifests":[)",
          Blob("application/vnd.oci.image.manifest.v1+json",
               R"(,"platform":{"os":"linux","architecture":"arm64"},)"
               R"("annotations":{"org.opencontainers.image.ref.name":"v1"})"),
          ",",
          Blob("application/vnd.docker.distribution.manifest.list.v2+json"),
          ",",
          Blob("application/vnd.oci.image.manifest.v1+json",
               R"(,"annotations":{"vnd.docker.reference.type":)"
               R"("attestation-manifest"})"),
          "]}"),
      "index.json");
  ASSERT_THAT(index, IsOk());
  ASSERT_EQ(index->manifests.size(), 3u);
  const BlobDescriptor& first = index->manifests[0];
  EXPECT_EQ(first.kind, BlobDescriptor::Kind::kManifest);
  EXPECT_EQ(first.sha256, kHash);
  EXPECT_EQ(first.size_bytes, 7);
  EXPECT_EQ(first.os, "linux");
  EXPECT_EQ(first.architecture, "arm64");
  EXPECT_EQ(first.tag, "v1");
  EXPECT_FALSE(first.is_attestation);
  EXPECT_EQ(index->manifests[1].kind, BlobDescriptor::Kind::kIndex);
  EXPECT_TRUE(index->manifests[2].is_attestation);
}

TEST(ImageDocumentsTest, AManifestNamesConfigAndLayers) {
  for (const std::string type :
       {"application/vnd.oci.image.layer.v1.tar",
        "application/vnd.oci.image.layer.v1.tar+zstd",
        "application/vnd.docker.image.rootfs.diff.tar.gzip"}) {
    const absl::StatusOr<ImageManifest> manifest =
        ParseManifestOfImage(Manifest(type), "m");
    ASSERT_THAT(manifest, IsOk());
    EXPECT_EQ(manifest->config.kind, BlobDescriptor::Kind::kConfig);
    ASSERT_EQ(manifest->layers.size(), 1u);
    EXPECT_EQ(manifest->layers[0].media_type, type);
  }
}

TEST(ImageDocumentsTest, AConfigSaysHowTheImageIsRun) {
  const absl::StatusOr<ImageConfig> config = ParseImageConfig(
      Config(R"("Env":["PATH=/bin","A="],"Entrypoint":["/run"],"Cmd":["a b"],)"
             R"("WorkingDir":"/srv//data/","Labels":{"x":"y",)"
             R"("org.footprint.bundle":"schema_version: 1"})"),
      "c");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->os, "linux");
  EXPECT_EQ(config->architecture, "amd64");
  EXPECT_THAT(config->environment, ElementsAre("PATH=/bin", "A="));
  EXPECT_THAT(config->entrypoint, ElementsAre("/run"));
  EXPECT_THAT(config->command, ElementsAre("a b"));
  EXPECT_EQ(config->working_folder, "/srv/data");
  EXPECT_EQ(config->bundle_label, "schema_version: 1");
  EXPECT_THAT(config->diff_ids, ElementsAre(kHash));
}

TEST(ImageDocumentsTest, SettingsMayBeMissingOrNull) {
  for (const std::string settings :
       {"", R"("Env":null,"Entrypoint":null,"Cmd":null,"Labels":null)"}) {
    const absl::StatusOr<ImageConfig> config =
        ParseImageConfig(Config(settings), "c");
    ASSERT_THAT(config, IsOk());
    EXPECT_EQ(config->working_folder, "/");
    EXPECT_TRUE(config->entrypoint.empty());
    EXPECT_FALSE(config->bundle_label.has_value());
  }
  EXPECT_THAT(
      ParseImageConfig(
          absl::StrCat(R"({"config":null,"rootfs":{"diff_ids":[]}})"), "c"),
      IsOk());
}

void ExpectWrong(const absl::Status& status, const std::string& problem) {
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(problem)));
}

TEST(ImageDocumentsTest, LayersThatAreNotReadAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"application/vnd.oci.image.layer.v1.tar+gzip+encrypted", "is encrypted"},
      {"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
       "only its address"},
      {"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
       "only its address"},
      {"application/vnd.example", "layers are tar archives"},
      {"", "layers are tar archives"},
  };
  for (const auto& [type, problem] : cases) {
    ExpectWrong(ParseManifestOfImage(Manifest(type), "m").status(), problem);
  }
}

TEST(ImageDocumentsTest, DocumentsOfOtherKindsAreRefused) {
  ExpectWrong(ParseManifestOfImage(R"({"schemaVersion":1,"fsLayers":[]})", "m")
                  .status(),
              "Docker's schema 1");
  ExpectWrong(ParseManifestOfImage(
                  absl::StrCat(R"({"schemaVersion":2,"config":)",
                               Blob("application/vnd.oci.empty.v1+json"), "}"),
                  "m")
                  .status(),
              "no image that can be run");
  // A document that two readers could take for different things.
  ExpectWrong(ParseManifestOfImage(
                  R"({"schemaVersion":2,"manifests":[],"layers":[]})", "m")
                  .status(),
              "something else");
  ExpectWrong(
      ParseImageIndex(R"({"schemaVersion":2,"manifests":[],"layers":[]})", "i")
          .status(),
      "something else");
  ExpectWrong(
      ParseImageIndex(
          R"({"schemaVersion":2,"mediaType":)"
          R"("application/vnd.oci.image.manifest.v1+json","manifests":[]})",
          "i")
          .status(),
      "something else");
}

// Docker's reader takes "Layers" for "layers".
TEST(ImageDocumentsTest, NamesThatDifferInCaseAloneAreRefused) {
  for (const char* text :
       {R"({"schemaVersion":2,"layers":[],"Layers":[]})",
        R"({"schemaVersion":2,"Config":{},"layers":[]})",
        "{\"schemaVersion\":2,\"layer\u017f\":[]}",
        R"({"schemaVersion":2,"layers":[{"Digest":"x"}]})"}) {
    ExpectWrong(ParseManifestOfImage(text, "m").status(), "other letters");
  }
  ExpectWrong(ParseImageConfig(Config(R"("env":["A=b"])"), "c").status(),
              "the name 'env'");
  // Labels are the author's own names.
  EXPECT_THAT(
      ParseImageConfig(Config(R"("Labels":{"Size":"2","size":"1"})"), "c"),
      IsOk());
}

TEST(ImageDocumentsTest, ALabelThatIsNullIsNone) {
  const auto config = ParseImageConfig(
      Config(R"("Labels":{"org.footprint.bundle":null})"), "c");
  ASSERT_THAT(config, IsOk());
  EXPECT_FALSE(config->bundle_label.has_value());
}

TEST(ImageDocumentsTest, DamagedDocumentsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is not an object"},
      {"[]", "is not an object"},
      {R"({"schemaVersion":2,"manifests":[)", "is not an object"},
      {R"({"schemaVersion":2})", "has no list 'manifests'"},
      {R"({"schemaVersion":2,"manifests":{}})", "has no list 'manifests'"},
      {R"({"schemaVersion":2,"manifests":[1]})", "no object"},
      {R"({"schemaVersion":2,"schemaVersion":2,"manifests":[]})",
       "'schemaVersion' twice"},
      {R"({"schemaVersion":2,"x":{"a":[{"b":1,"b":2}]},"manifests":[]})",
       "'b' twice"},
      {R"({"schemaVersion":2,"manifests":[{"digest":"sha256:ab"}]})",
       "64 digits"},
      {R"({"schemaVersion":2,"manifests":[{"digest":7}]})", "is no text"},
      {absl::StrCat(R"({"schemaVersion":2,"manifests":[{"digest":"sha256:)",
                    kHash, R"(","size":-1}]})"),
       "without a size"},
      {absl::StrCat(R"({"schemaVersion":2,"manifests":[{"digest":"sha512:)",
                    kHash, R"("}]})"),
       "64 digits"},
      {absl::StrCat(R"({"schemaVersion":2,"x":)", std::string(40, '['),
                    std::string(40, ']'), "}"),
       "nests deeper than 32"},
      {std::string(static_cast<size_t>(kMostDocumentBytes) + 1, ' '),
       "the most"},
      {"{\"\xff\":1}", "is not an object"},
  };
  for (const auto& [text, problem] : cases) {
    ExpectWrong(ParseImageIndex(text, "index.json").status(), problem);
    ExpectWrong(ParseImageIndex(text, "index.json").status(), "index.json ");
  }
}

std::string Repeat(const std::string& text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

TEST(ImageDocumentsTest, SettingsAtTheirLimitsAreTaken) {
  const std::string folder = Repeat("/a", 60);
  const absl::StatusOr<ImageConfig> config = ParseImageConfig(
      Config(absl::StrCat(R"("WorkingDir":")", folder, R"(","Env":["A=)",
                          Repeat("a", 131069), "\"]")),
      "c");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->working_folder, folder);
}

TEST(ImageDocumentsTest, SettingsThatCannotBeRunAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("Env":["=x"])", "NAME=value"},
      {R"("Env":["x"])", "NAME=value"},
      {R"("Env":"PATH=/"])", "is not an object"},
      {R"("Env":"PATH=/")", "list of at most 1000 texts"},
      {R"("Env":[1])", "list of at most 1000 texts"},
      {R"("Cmd":["a\u0000b"])", "zero byte"},
      {R"("WorkingDir":"relative")", "no absolute path"},
      {R"("WorkingDir":"/a/../b")", "no absolute path"},
      {R"("WorkingDir":"/a\u0000b")", "no absolute path"},
      {absl::StrCat(R"("WorkingDir":")", Repeat("/a", 61), "\""),
       "or 60 parts"},
      {absl::StrCat(R"("WorkingDir":"/)", Repeat("a", 256), "\""),
       "a part of more than 255 bytes"},
      {absl::StrCat(R"("WorkingDir":")", Repeat("/" + Repeat("a", 249), 5),
                    "\""),
       "more than 1000 bytes"},
      {absl::StrCat(R"("Env":["A=)", Repeat("a", 131070), "\"]"),
       "a text of 131072 bytes"},
      {absl::StrCat(R"("Cmd":[")", Repeat("a", 131072), "\"]"),
       "a text of 131072 bytes"},
      {R"("Labels":[])", "no object"},
      {R"("Labels":{"org.footprint.bundle":1})", "is no text"},
  };
  for (const auto& [settings, problem] : cases) {
    ExpectWrong(ParseImageConfig(Config(settings), "c").status(), problem);
  }
  ExpectWrong(ParseImageConfig("{}", "c").status(), "has no 'rootfs'");
  ExpectWrong(ParseImageConfig(R"({"rootfs":{"diff_ids":[1]}})", "c").status(),
              "64 digits");
}

TEST(ImageDocumentsTest, OnlyOneVersionOfTheLayoutIsRead) {
  EXPECT_THAT(CheckLayoutFile(R"({"imageLayoutVersion": "1.0.0"})"), IsOk());
  ExpectWrong(CheckLayoutFile(R"({"imageLayoutVersion": "2.0.0"})"),
              "1.0.0 is read");
  ExpectWrong(CheckLayoutFile("{}"), "1.0.0 is read");
}

}  // namespace
}  // namespace footprint

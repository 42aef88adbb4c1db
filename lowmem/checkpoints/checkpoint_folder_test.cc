#include "footprint/lowmem/checkpoints/checkpoint_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Makes a new folder below the test's own.
std::string Folder(const std::string& name) {
  const std::string path = TestPath(name);
  EXPECT_EQ(mkdir(path.c_str(), 0777), 0);
  return name;
}

absl::Status Open(const std::string& folder) {
  return OpenFolderWeights(TestPath(folder), WeightBackend::kPread).status();
}

TEST(OpenFolderWeightsTest, OpensTheOneFile) {
  const std::string folder = Folder("whole");
  WriteTestFile(folder + "/model.safetensors", SafetensorsBytes("{}", ""));
  EXPECT_THAT(Open(folder), IsOk());
}

TEST(OpenFolderWeightsTest, OpensTheFilesThatAnIndexNames) {
  const std::string folder = Folder("shards");
  const std::string index = WriteTestFile(
      folder + "/model.safetensors.index.json",
      R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
  const std::string path = TestPath(folder);
  EXPECT_EQ(FindWeightFile(path), index);
  EXPECT_EQ(ListWeightFiles(path),
            (std::vector<std::string>{index, path + "/a.safetensors",
                                      path + "/b.safetensors"}));
  const auto write = [&](const std::string& file, const std::string& tensor) {
    WriteTestFile(
        absl::StrCat(folder, "/", file),
        SafetensorsBytes(
            absl::StrCat(
                "{\"", tensor,
                R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})"),
            "."));
  };
  write("a.safetensors", "x");
  // A download that is not complete is named, and no other advice is given.
  WriteTestFile(folder + "/pytorch_model.bin", "");
  const absl::Status missing = Open(folder);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(absl::StrContains(missing.message(), path + "/b.safetensors"))
      << missing;
  EXPECT_FALSE(absl::StrContains(missing.message(), "pytorch")) << missing;
  const int64_t bytes = ComputeWeightBytes(path);
  write("b.safetensors", "y");
  EXPECT_THAT(Open(folder), IsOk());
  EXPECT_EQ(ComputeWeightBytes(path),
            bytes + static_cast<int64_t>(
                        ReadTestFile(path + "/b.safetensors").size()));
  // One file for all takes precedence.
  WriteTestFile(folder + "/model.safetensors", SafetensorsBytes("{}", ""));
  EXPECT_EQ(FindWeightFile(path), path + "/model.safetensors");
  EXPECT_THAT(Open(folder), IsOk());
}

TEST(OpenFolderWeightsTest, NamesAnIndexThatLeadsNowhere) {
  const std::string folder = Folder("dangling");
  const std::string index = TestPath(folder) + "/model.safetensors.index.json";
  ASSERT_EQ(symlink("../../blobs/gone", index.c_str()), 0);
  const absl::Status missing = Open(folder);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(absl::StrContains(missing.message(), index)) << missing;
}

TEST(OpenFolderWeightsTest, ReportsAnIndexThatIsNone) {
  const std::string folder = Folder("no_index");
  const std::string index =
      WriteTestFile(folder + "/model.safetensors.index.json", "{}");
  EXPECT_THAT(Open(folder), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ListWeightFiles(TestPath(folder)), std::vector<std::string>{index});
}

TEST(OpenFolderWeightsTest, SaysWhatToDoWithAPickle) {
  const std::string folder = Folder("pickle");
  WriteTestFile(folder + "/pytorch_model.bin", "");
  EXPECT_TRUE(absl::StrContains(Open(folder).message(), "safe_serialization"))
      << Open(folder);
}

TEST(OpenFolderWeightsTest, OpensQuantisedWeights) {
  const std::string folder = Folder("quantised");
  WriteTestFile(folder + "/model.gguf", GgufHeader().Build());
  EXPECT_THAT(Open(folder), IsOk());
  // A model.safetensors beside shards takes precedence.
  WriteTestFile(folder + "/model.safetensors", "no header");
  EXPECT_THAT(Open(folder), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(OpenFolderWeightsTest, NamesAModelOfItsOwn) {
  const std::string folder = Folder("ggufs");
  WriteTestFile(folder + "/b-Q8_0.gguf", "");
  WriteTestFile(folder + "/a-Q4_0.gguf", "");
  EXPECT_TRUE(absl::StrContains(Open(folder).message(), "ggufs/a-Q4_0.gguf"))
      << Open(folder);
}

TEST(OpenFolderWeightsTest, TellsFilesFromFolders) {
  const std::string folder = Folder("kinds");
  const std::string file = WriteTestFile(folder + "/model.gguf", "GGUF");
  EXPECT_TRUE(IsModelFile(file));
  EXPECT_FALSE(IsModelFile(TestPath(folder)));
  EXPECT_FALSE(IsModelFile(TestPath("missing")));
  EXPECT_EQ(FindWeightFile(file), file);
  EXPECT_EQ(FindWeightFile(TestPath(folder)), file);
  EXPECT_EQ(FindWeightFile("missing"), "missing/model.safetensors");
}

TEST(OpenFolderWeightsTest, SaysNoMoreThanItKnows) {
  const absl::Status status = Open(Folder("empty"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(absl::EndsWith(status.message(),
                             "No such file or directory; check the path, or "
                             "make the file first"))
      << status;
}

TEST(CheckpointFolderTest, NamesTheWeightsThatAreNotRead) {
  const std::string folder = TestPath("both_weights");
  mkdir(folder.c_str(), 0777);
  EXPECT_EQ(FindUnreadWeightFile(folder), "");
  WriteTestFile("both_weights/model.gguf", "");
  EXPECT_EQ(FindUnreadWeightFile(folder), "");
  EXPECT_EQ(FindWeightFile(folder), folder + "/model.gguf");
  WriteTestFile("both_weights/model.safetensors", "");
  EXPECT_EQ(FindUnreadWeightFile(folder), folder + "/model.gguf");
  EXPECT_EQ(FindWeightFile(folder), folder + "/model.safetensors");
  EXPECT_EQ(FindUnreadWeightFile(folder + "/model.gguf"), "");
}

}  // namespace
}  // namespace footprint

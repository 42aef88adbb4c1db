#include "footprint/lowmem/checkpoints/checkpoint_folder.h"

#include <sys/stat.h>

#include <string>

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

TEST(OpenFolderWeightsTest, SaysHowToMakeOneFileOfShards) {
  const std::string folder = Folder("shards");
  WriteTestFile(folder + "/model.safetensors.index.json", "{}");
  const absl::Status status = Open(folder);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  const std::string path = TestPath(folder + "/model.safetensors");
  EXPECT_TRUE(absl::StrContains(
      status.message(),
      absl::StrCat("lowmem_pack ", path, ".index.json ", path)))
      << status;
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

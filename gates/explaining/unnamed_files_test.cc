#include "footprint/gates/explaining/unnamed_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kThresholds[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\n";

class UnnamedFilesTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(top_); }

  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = top_ + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::vector<UnnamedFile> files = *FindUnnamedFiles(top_);
    for (const UnnamedFile& file : files) {
      names.push_back(file.name);
    }
    return names;
  }

  const std::string top_ = testing::TempDir() + "/unnamed";
};

TEST_F(UnnamedFilesTest, AThresholdFileIsNamedInItsFolderOrAbove) {
  Put("a/named.textproto", kThresholds);
  Put("a/BUILD", "gate(thresholds = [\"named.textproto\"])");
  Put("b/c/named.textproto", kThresholds);
  Put("b/BUILD.bazel", "gate(thresholds = [\"c/named.textproto\"])");
  Put("d/some.textproto", kThresholds);
  Put("d/rules.bzl", "glob([\"*.textproto\"])");
  Put("a/other.textproto", "# another message\n");
  Put(".hidden/x.textproto", kThresholds);
  EXPECT_THAT(Names(), IsEmpty());
  Put("a.b/forgotten.textproto", kThresholds);
  Put("e/forgotten.textproto", kThresholds);
  Put("a/forgotten.textproto", kThresholds);
  std::filesystem::create_symlink(top_ + "/e", top_ + "/bazel-e");
  EXPECT_THAT(Names(),
              ElementsAre("a.b/forgotten.textproto", "a/forgotten.textproto",
                          "e/forgotten.textproto"));
}

TEST_F(UnnamedFilesTest, AMemoryGatesOwnFileIsNamedByTheGate) {
  Put("a/load_thresholds.textproto", kThresholds);
  Put("a/BUILD", "memory_gate(\n    name = \"load\",\n)\n");
  EXPECT_THAT(Names(), IsEmpty());
  // These are the file of another gate, of a gate in another folder, and of no
  // gate.
  Put("a/fit_thresholds.textproto", kThresholds);
  Put("b/load_thresholds.textproto", kThresholds);
  Put("c/load_thresholds.textproto", kThresholds);
  Put("c/BUILD", "memory_gate_test(\n    name = \"load\",\n)\n");
  EXPECT_THAT(Names(), ElementsAre("a/fit_thresholds.textproto",
                                   "b/load_thresholds.textproto",
                                   "c/load_thresholds.textproto"));
}

TEST_F(UnnamedFilesTest, AProfileIsNamedBesidesItsOwnRule) {
  Put("a/BUILD",
      "memory_profile(\n    name = \"x_profile\",\n)\n"
      "memory_profile(name = \"y_profile\")\n"
      "gate(profile = \":x_profile\")\n");
  EXPECT_THAT(Names(), ElementsAre("//a:y_profile"));
  EXPECT_TRUE(FindUnnamedFiles(top_)->at(0).is_profile);
  Put("gates/BUILD", "suite(profiles = [\"//a:y_profile\"])");
  EXPECT_THAT(Names(), IsEmpty());
  // A longer name is a different one.
  Put("gates/BUILD", "suite(profiles = [\"//a:my_profile\"])");
  EXPECT_THAT(Names(), ElementsAre("//a:y_profile"));
}

TEST_F(UnnamedFilesTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_TRUE(absl::IsUnavailable(FindUnnamedFiles(top_).status()));
}

}  // namespace
}  // namespace footprint

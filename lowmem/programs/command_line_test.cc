#include "footprint/lowmem/programs/command_line.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

ABSL_FLAG(int32_t, count, 3, "a number");

namespace footprint::lowmem_internal {
namespace {

using testing::ElementsAre;

std::vector<std::string> Parse(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(&argument[0]);
  const std::vector<char*> left =
      ParseFlags(static_cast<int>(argv.size()), argv.data());
  return {left.begin(), left.end()};
}

TEST(ParseFlagsTest, LeavesTheOtherArguments) {
  EXPECT_THAT(Parse({"program", "a", "--count=5", "b"}),
              ElementsAre("program", "a", "b"));
}

TEST(ParseFlagsDeathTest, EndsWithTwoWhereAFlagIsWrong) {
  EXPECT_EXIT(Parse({"program", "--cuont=3"}), testing::ExitedWithCode(2),
              "ERROR");
}

TEST(FailTest, SaysWhoAndWhatInOneLine) {
  testing::internal::CaptureStderr();
  const absl::Status status =
      absl::NotFoundError(absl::string_view("no tensor \"a\0b\", 100 %s", 23));
  EXPECT_EQ(Fail("lowmem_run", ExitCode::kFailed, status), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lowmem_run: no tensor \"a\\x00b\", 100 %s\n");
  EXPECT_EQ(Fail("x", ExitCode::kWrongUsage, status), 2);
}

TEST(RunOnFolderTest, TellsTheCommandLinesFaultsFromTheRuns) {
  std::string program = "program";
  std::string folder = "model";
  const auto run = [&](const std::vector<char*>& arguments,
                       const absl::Status& flags, const absl::Status& result) {
    testing::internal::CaptureStderr();
    const int code = RunOnFolder(
        "lowmem_run", arguments, [&] { return flags; },
        [&](const std::string& directory) {
          EXPECT_EQ(directory, "model");
          return result;
        });
    testing::internal::GetCapturedStderr();
    return code;
  };
  const absl::Status good;
  const absl::Status bad = absl::NotFoundError("no");
  EXPECT_EQ(run({&program[0], &folder[0]}, good, good), 0);
  EXPECT_EQ(run({&program[0], &folder[0]}, good, bad), 1);
  EXPECT_EQ(run({&program[0], &folder[0]}, bad, good), 2);
  EXPECT_EQ(run({&program[0]}, good, good), 2);
  EXPECT_EQ(run({&program[0], &folder[0], &folder[0]}, good, good), 2);
}

TEST(RunOnFolderTest, RefusesOneFileOfAModelsFolder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json",
                           "config.json", "model.gguf"}) {
    std::string program = "program";
    std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path) << "{}";
    bool has_run = false;
    testing::internal::CaptureStderr();
    const int code = RunOnFolder(
        "lowmem_run", {&program[0], &path[0]}, [] { return absl::OkStatus(); },
        [&](const std::string&) {
          has_run = true;
          return absl::OkStatus();
        });
    const std::string error = testing::internal::GetCapturedStderr();
    EXPECT_EQ(has_run, path.back() == 'f');
    EXPECT_EQ(code, has_run ? 0 : 1) << error;
    EXPECT_EQ(error.find("name its folder") == std::string::npos, has_run);
  }
}

TEST(CheckNotThereTest, AFileWithBytesStaysUnlessForced) {
  const std::string path = testing::TempDir() + "/output";
  EXPECT_THAT(CheckNotThere(path, false), IsOk());
  std::ofstream(path).flush();
  EXPECT_THAT(CheckNotThere(path, false), IsOk());
  std::ofstream(path) << "x";
  const absl::Status status = CheckNotThere(path, false);
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(CheckNotThere(path, true), IsOk());
  EXPECT_THAT(CheckNotThere("/dev/null", false), IsOk());
}

}  // namespace
}  // namespace footprint::lowmem_internal

#include "footprint/profiling/recording/memory_output_flags.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::Not;

struct CommandLine {
  explicit CommandLine(std::vector<std::string> given)
      : words(std::move(given)) {
    for (std::string& word : words) argv.push_back(word.data());
    argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
  }
  std::vector<std::string> Left() const {
    return std::vector<std::string>(argv.begin(), argv.begin() + argc);
  }
  std::vector<std::string> words;
  std::vector<char*> argv;
  int argc = 0;
};

TEST(MemoryOutputFlagsTest, TakesItsFlagsAndLeavesTheOthers) {
  CommandLine line({"x", "--a=1", "--memory_profile_out=p", "b",
                    "--memory_samples_out", "s", "--c"});
  const auto outputs = TakeMemoryOutputFlags(&line.argc, line.argv.data());
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ(outputs->profile_path, "p");
  EXPECT_EQ(outputs->samples_path, "s");
  EXPECT_THAT(line.Left(), ElementsAre("x", "--a=1", "b", "--c"));
  EXPECT_EQ(line.argv[4], nullptr);
}

TEST(MemoryOutputFlagsTest, StopsAtTheDoubleDash) {
  CommandLine line({"x", "--", "--memory_profile_out=p"});
  const auto outputs = TakeMemoryOutputFlags(&line.argc, line.argv.data());
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ(outputs->profile_path, "");
  EXPECT_THAT(line.Left(), ElementsAre("x", "--", "--memory_profile_out=p"));
}

TEST(MemoryOutputFlagsTest, OneFileCannotHoldBoth) {
  CommandLine line({"x", "--memory_profile_out=p", "--memory_samples_out=p"});
  const auto outputs = TakeMemoryOutputFlags(&line.argc, line.argv.data());
  EXPECT_THAT(outputs, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(outputs.status().message()),
              testing::HasSubstr("both name p"));
  CommandLine other(
      {"x", "--memory_profile_out=p", "--memory_samples_out=./p"});
  EXPECT_THAT(TakeMemoryOutputFlags(&other.argc, other.argv.data()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(MemoryOutputFlagsTest, AFlagOfALongerNameIsNotTaken) {
  CommandLine line({"x", "--memory_profile_output=p"});
  const auto outputs = TakeMemoryOutputFlags(&line.argc, line.argv.data());
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ(outputs->profile_path, "");
  EXPECT_EQ(line.argc, 2);
}

// A script whose variable is empty must get an error, not a run that measures
// nothing.
TEST(MemoryOutputFlagsTest, AFlagWithoutAFileIsAnError) {
  const std::vector<std::vector<std::string>> lines = {
      {"x", "--memory_profile_out="},
      {"x", "--memory_profile_out", ""},
      {"x", "--memory_profile_out=p", "--memory_profile_out="},
      {"x", "--memory_profile_out"},
  };
  for (const std::vector<std::string>& words : lines) {
    CommandLine line(words);
    const auto outputs = TakeMemoryOutputFlags(&line.argc, line.argv.data());
    EXPECT_THAT(outputs, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(outputs.status().message(),
              "--memory_profile_out names no file; write "
              "--memory_profile_out=FILE, or leave it out to measure nothing");
  }
  CommandLine line({"x", "--memory_profile_out=p", "--memory_samples_out="});
  EXPECT_THAT(
      TakeMemoryOutputFlags(&line.argc, line.argv.data()).status().message(),
      testing::HasSubstr("--memory_samples_out names no file"));
}

MemoryProfile OneMetric() {
  MemoryProfile profile;
  BenchmarkMemory* benchmark = profile.add_benchmarks();
  benchmark->set_name("BM_X");
  Metric* metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(64);
  return profile;
}

TEST(MemoryOutputFlagsTest, WritesProfileAndSamples) {
  const MemoryOutputs outputs = {testing::TempDir() + "/profile",
                                 testing::TempDir() + "/samples"};
  ASSERT_THAT(WriteMemoryOutputs(OneMetric(), outputs), IsOk());
  const auto profile = ReadMemoryProfileFile(outputs.profile_path);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->process_count(), 1);
  EXPECT_NE(profile->environment().compiler(), "");
  const auto samples = ReadMemorySamplesFile(outputs.samples_path);
  ASSERT_THAT(samples, IsOk());
  EXPECT_EQ(samples->benchmarks(0).metrics(0).values(0), 64);
}

TEST(MemoryOutputFlagsTest, AForkedChildWritesNothing) {
  const MemoryOutputs outputs = {testing::TempDir() + "/of_child", ""};
  const pid_t child = fork();
  if (child == 0) {
    _exit(WriteMemoryOutputs(OneMetric(), outputs).ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(access(outputs.profile_path.c_str(), F_OK), 0);
}

TEST(MemoryOutputFlagsTest, SaysWhyItCannotWrite) {
  EXPECT_THAT(WriteMemoryOutputs(OneMetric(), {"/nowhere/profile", ""}),
              Not(IsOk()));
}

}  // namespace
}  // namespace footprint

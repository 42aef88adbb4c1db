#include "footprint/gates/updating/workspace_update.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHeader[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\nschema_version: 1\n";

std::string Maximum(int bytes) {
  return absl::StrCat(kHeader,
                      "headroom { exact: true }\n"
                      "threshold { selector { label: '//a:b' benchmark: 'BM_X' "
                      "} metric: PEAK_LIVE_USABLE_BYTES max_bytes: ",
                      bytes, " }\n");
}

MemoryProfile Profile(const std::string& benchmark, int64_t peak_bytes,
                      const std::string& compiler = "gcc") {
  MemoryProfile profile;
  profile.set_label("//a:b");
  profile.set_process_count(3);
  profile.mutable_environment()->set_compiler(compiler);
  BenchmarkMemory* const memory = profile.add_benchmarks();
  memory->set_name(benchmark);
  Metric* const metric = memory->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(peak_bytes);
  return profile;
}

class WorkspaceUpdateTest : public testing::Test {
 protected:
  WorkspaceUpdateTest() {
    request_.workspace = testing::TempDir();
    request_.options.date = "2026-11-21";
    request_.input.profiles = {Profile("BM_X", 80)};
    Put("limits.textproto", Maximum(100));
    request_.input.thresholds = {ThresholdSource()};
    request_.input.thresholds[0].path = "limits.textproto";
  }

  std::string MakePath(const std::string& name) const {
    return absl::StrCat(request_.workspace, "/", name);
  }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(MakePath(name)) << text;
  }
  std::string Get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(MakePath(name)).rdbuf();
    return text.str();
  }
  std::string Refusal() const {
    return std::string(PlanWorkspaceUpdate(request_).status().message());
  }

  WorkspaceUpdateRequest request_;
};

TEST_F(WorkspaceUpdateTest, LowersALimitOnceItIsWritten) {
  const auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->descriptions, ElementsAre(HasSubstr("100 B -> 80 B")));
  EXPECT_THAT(update->refusals, IsEmpty());
  EXPECT_EQ(Get("limits.textproto"), Maximum(100));
  ASSERT_THAT(WriteUpdate(*update), IsOk());
  EXPECT_THAT(Get("limits.textproto"), HasSubstr("max_bytes: 80"));
  const auto again = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->files[0].edited, again->files[0].text);
  EXPECT_THAT(again->descriptions, IsEmpty());
}

TEST_F(WorkspaceUpdateTest, ReadsTheFileAsItIsNow) {
  request_.input.thresholds[0] =
      ParseThresholdFile("limits.textproto", Maximum(70));
  const auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->descriptions, ElementsAre(HasSubstr("100 B -> 80 B")));
}

TEST_F(WorkspaceUpdateTest, LeavesWhatWouldRise) {
  request_.input.profiles = {Profile("BM_X", 120)};
  const auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->refusals, ElementsAre(HasSubstr("is an increase")));
  EXPECT_EQ(update->files[0].edited, Maximum(100));
}

TEST_F(WorkspaceUpdateTest, RecordsWhatWasChangedByHand) {
  request_.records = true;
  request_.options.reason = "a cache";
  const std::string by_hand = absl::StrCat(
      kHeader, "recorded: true\n",
      "threshold { selector { label: '//a:b' } metric: PEAK_LIVE_USABLE_BYTES "
      "max_bytes: 90 history { date: '2026-01-01' new_value: 70 reason: "
      "'measured' } }\n");
  Put("limits.textproto", by_hand);
  const auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->descriptions, SizeIs(1));
  EXPECT_THAT(update->files[0].edited, HasSubstr("a cache"));
  // No number changes, although less was measured.
  EXPECT_THAT(update->files[0].edited, HasSubstr("max_bytes: 90"));
}

TEST_F(WorkspaceUpdateTest, AddsBenchmarksWhereThereIsOneChoice) {
  request_.adds = true;
  request_.input.profiles = {Profile("BM_New", 64)};
  auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->files[0].edited, HasSubstr("BM_New"));
  Put("second.textproto", Maximum(100));
  request_.input.thresholds.push_back(request_.input.thresholds[0]);
  request_.input.thresholds[1].path = "second.textproto";
  EXPECT_THAT(Refusal(), HasSubstr("2 files could hold thresholds of //a:b; "
                                   "name one with --file="));
  request_.added_path = "second.textproto";
  update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_THAT(update->files[1].edited, HasSubstr("BM_New"));
}

TEST_F(WorkspaceUpdateTest, AddsToAFileWithoutRules) {
  request_.adds = true;
  for (const std::string& text :
       {std::string(),
        std::string("# proto-file: gates/judge/gate.proto\n"
                    "# proto-message: footprint.ThresholdFile\n")}) {
    Put("limits.textproto", text);
    const auto update = PlanWorkspaceUpdate(request_);
    ASSERT_THAT(update, IsOk());
    const ThresholdSource source =
        ParseThresholdFile("limits.textproto", update->files[0].edited);
    EXPECT_THAT(source.problems, IsEmpty()) << update->files[0].edited;
    EXPECT_EQ(source.file.threshold_size(), 1);
  }
}

TEST_F(WorkspaceUpdateTest, CountsTheBenchmarksThatAStarNames) {
  request_.adds = true;
  request_.input.profiles = {Profile("BM_X/1", 80)};
  *request_.input.profiles[0].add_benchmarks() =
      Profile("BM_X/2", 70).benchmarks(0);
  const std::string rule =
      "threshold { selector { label: '//a:b' benchmark: 'BM_X/*' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_bytes: 100 ";
  Put("limits.textproto", kHeader + rule + "}\n");
  auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_EQ(update->files[0].edited, kHeader + rule + "benchmark_count: 2 }\n");
  EXPECT_THAT(update->descriptions,
              ElementsAre(HasSubstr("benchmark_count 2")));
  Put("limits.textproto", kHeader + rule + "benchmark_count: 5 }\n");
  update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  EXPECT_EQ(update->files[0].edited, kHeader + rule + "benchmark_count: 2 }\n");
  EXPECT_THAT(update->descriptions,
              ElementsAre(HasSubstr("benchmark_count 5 -> 2")));
}

TEST_F(WorkspaceUpdateTest, KeepsTheValuesOfAnotherEnvironmentInItsFile) {
  Put("limits.textproto",
      absl::StrCat(kHeader, "environment { compiler: 'gcc' }\n",
                   "threshold { selector { label: '//a:b' } metric: "
                   "PEAK_LIVE_USABLE_BYTES exact_bytes: 80 }\n"));
  request_.input.profiles = {Profile("BM_X", 96, "clang")};
  request_.environment_path = "clang.textproto";
  const auto update = PlanWorkspaceUpdate(request_);
  ASSERT_THAT(update, IsOk());
  ASSERT_THAT(update->files, SizeIs(2));
  EXPECT_EQ(update->files[1].path, "clang.textproto");
  EXPECT_EQ(update->files[1].text, "");
  ASSERT_THAT(WriteUpdate(*update), IsOk());
  EXPECT_THAT(Get("clang.textproto"), HasSubstr("exact_bytes: 96"));
  EXPECT_THAT(Get("clang.textproto"), HasSubstr("clang"));
  // The file of the other environment stays.
  EXPECT_EQ(update->files[0].edited, update->files[0].text);
}

TEST_F(WorkspaceUpdateTest, RefusesWhatNamesNothing) {
  request_.options.label = "//c:*";
  EXPECT_THAT(Refusal(), HasSubstr("nothing that was measured is named"));
  request_.options.label = "a\\b";
  EXPECT_THAT(Refusal(), HasSubstr("have a backslash only before"));
}

TEST_F(WorkspaceUpdateTest, SaysEveryProblemInALine) {
  Problem problem;
  problem.set_location("gate.manifest:1");
  problem.set_message("cannot be read");
  request_.input.problems = {problem};
  Put("limits.textproto", kHeader + std::string("threshhold {}\n"));
  EXPECT_THAT(Refusal(),
              HasSubstr("gate.manifest:1: cannot be read\nlimits.textproto:4"));
  request_.input.thresholds[0].path = "absent.textproto";
  EXPECT_TRUE(absl::IsNotFound(PlanWorkspaceUpdate(request_).status()));
}

// The shell that starts diff must take a file's name as one word.
TEST_F(WorkspaceUpdateTest, ADryRunRunsNothingThatStandsInAName) {
  const std::string made = testing::TempDir() + "/pwned";
  for (const std::string mark : {"\x01", "\xe2\x80\xae", ""}) {
    WorkspaceUpdate update;
    update.files.push_back(
        {absl::StrCat("a", mark, "';touch ", made, ";#"), "", "1\n", "2\n"});
    testing::internal::CaptureStdout();
    EXPECT_THAT(PrintDiff(update), IsOk());
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("-1\n+2"));
    EXPECT_FALSE(std::ifstream(made).good());
  }
}

}  // namespace
}  // namespace footprint

#include "footprint/profiling/memprof/memprof_options.h"

#include <cstring>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<MemprofOptions> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "memprof");
  return ParseMemprofOptions(static_cast<int>(words.size()), words.data());
}

void ExpectRefused(const std::vector<const char*>& words,
                   const std::string& text) {
  EXPECT_THAT(Parse(words),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
}

TEST(MemprofOptionsTest, OptionsStandBeforeTheProgram) {
  const auto options =
      Parse({"--limit=64MiB", "--sampling=0", "--record=a.run", "--json=a.json",
             "--proto=a.binpb", "python3", "--limit=1", "-h"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->limit_bytes, int64_t{64} << 20);
  EXPECT_EQ(options->run.sampling_interval_bytes, 0);
  EXPECT_EQ(options->record_path, "a.run");
  EXPECT_EQ(options->json_path, "a.json");
  EXPECT_EQ(options->proto_path, "a.binpb");
  EXPECT_THAT(options->run.arguments,
              ElementsAre("python3", "--limit=1", "-h"));
  EXPECT_FALSE(options->help);
}

TEST(MemprofOptionsTest, ADoubleDashEndsTheOptions) {
  const auto options = Parse({"--sampling=none", "--", "--strange"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->run.sampling_interval_bytes, -1);
  EXPECT_THAT(options->run.arguments, ElementsAre("--strange"));
}

TEST(MemprofOptionsTest, AutomaticStagesCanBeTurnedOff) {
  auto options = Parse({"python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->run.has_automatic_stages);
  options = Parse({"--stages=named", "python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_FALSE(options->run.has_automatic_stages);
  options = Parse({"--stages=all", "python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->run.has_automatic_stages);
  ExpectRefused({"--stages=some", "python3"}, "--stages=named or --stages=all");
}

TEST(MemprofOptionsTest, WhatStagesLeftIsAskedForByTheirNames) {
  auto options = Parse({"--left=warm up", "python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->left_from, "warm up");
  EXPECT_EQ(options->left_until, "");
  options = Parse({"--left=warm,stop,now", "--from=a.run"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->left_from, "warm");
  EXPECT_EQ(options->left_until, "stop,now");
  ExpectRefused({"--left=", "python3"}, "--left names no stage");
  ExpectRefused({"--left=,stop", "python3"}, "--left names no stage");
}

TEST(MemprofOptionsTest, TheContainerIsTriedByARunAlone) {
  auto options = Parse({"--container", "python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->tries_container);
  options = Parse({"--speedscope=a.json", "--csv=a.csv", "python3"});
  ASSERT_THAT(options, IsOk());
  EXPECT_FALSE(options->tries_container);
  EXPECT_EQ(options->speedscope_path, "a.json");
  EXPECT_EQ(options->csv_path, "a.csv");
  ExpectRefused({"--container=1GiB", "python3"}, "--container has no value");
  ExpectRefused({"--container", "--from=a.run"}, "--from runs nothing");
}

TEST(MemprofOptionsTest, AViewIsOfAProgramThatRuns) {
  const auto options = Parse({"--live", "--quiet", "x"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->is_live);
  EXPECT_TRUE(options->is_quiet);
  EXPECT_FALSE(Parse({"x"})->is_live);
  EXPECT_FALSE(Parse({"x"})->is_quiet);
  ExpectRefused({"--live=2", "x"}, "--live has no value");
  ExpectRefused({"--quiet=yes", "x"}, "--quiet has no value");
  ExpectRefused({"--live", "--from=old.run"}, "--from runs nothing");
  ExpectRefused({"--live", "--compare=old.run", "new.run"},
                "--live shows a program that runs, and --compare runs nothing");
  ExpectRefused({"--compare=old.run", "--quiet", "new.run"},
                "--quiet leaves out a program's report, and --compare runs");
}

TEST(MemprofOptionsTest, WhatIsRefusedNamesItsOption) {
  ExpectRefused({"--sampling", "x"},
                "--sampling: \"\" is not a number of bytes");
  ExpectRefused({"--copies=all", "x"}, "--copies: \"all\" is not a number");
  ExpectRefused({"--limit=10kb", "x"}, "--limit: \"10kb\" is not a number");
  ExpectRefused({"--json=-", "x"}, "--json names no file");
}

TEST(MemprofOptionsTest, RecordsAreReadInsteadOfRun) {
  auto options = Parse({"--from=a.run"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->from_path, "a.run");
  ExpectRefused({"--from=a.run", "python3"}, "python3 is one word too many");
  options = Parse({"--compare=a.run", "b.run"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->compare_before_path, "a.run");
  EXPECT_EQ(options->compare_after_path, "b.run");
  ExpectRefused({"--compare=a.run"}, "--compare=before.run after.run");
  ExpectRefused({"--compare=a.run", "b", "--limit=1"},
                "--limit=1 is one word too many");
  for (const char* ignored :
       {"--limit=64MiB", "--json=x", "--csv=x", "--record=x", "--left=fit"}) {
    ExpectRefused({"--compare=a.run", ignored, "b"}, "give it with --from");
  }
}

TEST(MemprofOptionsTest, NoOutputReplacesAnotherOrARecordThatIsRead) {
  ExpectRefused({"--html=a", "--json=./a", "x"},
                "--html=a would replace the file of --json; name another file");
  ExpectRefused({"--from=a.run", "--html=a.run"},
                "--html=a.run would replace the record to read");
  ExpectRefused({"--from=a.run", "--reduced", "--record=a.run"},
                "--record=a.run would replace the record to read");
  ExpectRefused({"--html=b", "--compare=a", "b"}, "the record to read");
  EXPECT_THAT(Parse({"--html=a", "--json=b", "x"}), IsOk());
  EXPECT_THAT(Parse({"--html=/dev/null", "--json=/dev/null", "x"}), IsOk());
}

TEST(MemprofOptionsTest, ChildrenAreRecordedUnlessTheyAreNotTo) {
  EXPECT_TRUE(Parse({"x"})->run.children_are_recorded);
  EXPECT_TRUE(Parse({"--children=yes", "x"})->run.children_are_recorded);
  EXPECT_FALSE(Parse({"--children=no", "x"})->run.children_are_recorded);
  ExpectRefused({"--children=two", "x"}, "=yes or =no");
}

TEST(MemprofOptionsTest, ThresholdsHideWhatIsSmall) {
  auto options = Parse({"--memory_threshold=64KiB", "--cpu_threshold=5%", "x"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->memory_threshold.amount, 65536);
  EXPECT_EQ(options->cpu_threshold.percent, 5);
  EXPECT_FALSE(options->is_reduced);
  options = Parse({"--reduced", "--cpu_threshold=5%", "x"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->is_reduced);
  EXPECT_EQ(options->memory_threshold.percent, 1);
  EXPECT_EQ(options->cpu_threshold.percent, 5);
  ExpectRefused({"--cpu_threshold=64KiB", "x"}, "--cpu_threshold: a threshold");
  ExpectRefused({"--reduced=1%", "x"}, "thresholds have");
}

TEST(MemprofOptionsTest, ErrorsSayTheNextStep) {
  ExpectRefused({}, "memprof python3 train.py");
  ExpectRefused({"--limit=1"}, "which program?");
  ExpectRefused({"--limt=1", "x"}, "did you mean \"--limit\"");
  ExpectRefused({"--limit=many", "x"}, "many");
  ExpectRefused({"--json=", "x"}, "write --json=FILE");
  ExpectRefused({"--json", "x"}, "write --json=FILE");
  ExpectRefused({"--pid=1"}, "start the program with memprof");
}

TEST(MemprofOptionsTest, RefusesToMeasureWhereARecordIsRead) {
  for (const char* option : {"--sampling=0", "--children=no", "--stages=all",
                             "--cpu", "--cpu_only", "--copies"}) {
    const std::string text =
        std::string(option, std::strcspn(option, "=")) + " says how to measure";
    ExpectRefused({option, "--from=a.run"}, text);
    ExpectRefused({option, "--compare=a.run", "b.run"}, text);
    EXPECT_THAT(Parse({option, "x"}), IsOk());
  }
}

TEST(MemprofOptionsTest, HelpWinsOverTheRest) {
  const auto options = Parse({"--help", "--unknown"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->help);
  EXPECT_THAT(kMemprofHelp, HasSubstr("--limit=BYTES"));
}

}  // namespace
}  // namespace footprint

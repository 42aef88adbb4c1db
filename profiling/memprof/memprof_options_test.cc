#include "footprint/profiling/memprof/memprof_options.h"

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

void ExpectRefused(const std::vector<const char*>& words, const char* text) {
  EXPECT_THAT(Parse(words),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
}

TEST(MemprofOptionsTest, OptionsStandBeforeTheProgram) {
  const auto options = Parse({"--limit=64MiB", "--sampling=0", "--record=a.run",
                              "--json=a.json", "python3", "--limit=1", "-h"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->limit_bytes, int64_t{64} << 20);
  EXPECT_EQ(options->run.sampling_interval_bytes, 0);
  EXPECT_EQ(options->record_path, "a.run");
  EXPECT_EQ(options->json_path, "a.json");
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

TEST(MemprofOptionsTest, RecordsAreReadInsteadOfRun) {
  auto options = Parse({"--from=a.run"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->from_path, "a.run");
  ExpectRefused({"--from=a.run", "python3"}, "python3 is one word too many");
  options = Parse({"--compare=a.run", "b.run"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->compare_before_path, "a.run");
  EXPECT_EQ(options->compare_after_path, "b.run");
  ExpectRefused({"--compare=a.run"}, "compare which runs?");
  ExpectRefused({"--compare=a.run", "b", "c"}, "compare which runs?");
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

TEST(MemprofOptionsTest, HelpWinsOverTheRest) {
  const auto options = Parse({"--help", "--unknown"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->help);
  EXPECT_THAT(kMemprofHelp, HasSubstr("--limit=BYTES"));
}

}  // namespace
}  // namespace footprint

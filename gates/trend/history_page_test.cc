#include "footprint/gates/trend/history_page.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HistoryCommit MakeCommit(int index, const std::string& author) {
  HistoryCommit made;
  made.commit.hash = absl::StrCat("c0ffee", index);
  made.commit.author = author;
  made.commit.date = absl::StrCat("2026-11-", 10 + index);
  made.commit.subject = absl::StrCat("Change <", index, ">");
  return made;
}

HistoryCommit Recorded(int index, const std::string& author, int64_t bytes,
                       int64_t limit_bytes) {
  HistoryCommit made = MakeCommit(index, author);
  made.profiles.emplace();
  MemoryProfile* const profile = made.profiles->add_profiles();
  profile->set_label("//app:load");
  for (const auto& [name, value] :
       {std::pair("BM_Small", int64_t{10}), std::pair("BM_Load", bytes)}) {
    BenchmarkMemory* const benchmark = profile->add_benchmarks();
    benchmark->set_name(name);
    Metric* const metric = benchmark->add_metrics();
    metric->set_kind(PEAK_LIVE_USABLE_BYTES);
    metric->set_determinism(EXACT);
    metric->set_value(value);
  }
  CommitLimit* const limit = made.profiles->add_limits();
  limit->set_label("//app:load");
  limit->set_benchmark("BM_Load");
  limit->set_metric(PEAK_LIVE_USABLE_BYTES);
  limit->set_limit(limit_bytes);
  return made;
}

std::string PageOf(const std::vector<HistoryCommit>& commits) {
  const absl::StatusOr<std::string> page =
      WriteHistoryPage("//app:load.diff", commits, {});
  EXPECT_THAT(page, IsOk());
  return page.ok() ? *page : "";
}

TEST(HistoryPageTest, SaysWhoRaisedThePeak) {
  const std::string page =
      PageOf({Recorded(0, "Ann", 1000, 2000), Recorded(1, "Bob", 1000, 2000),
              Recorded(2, "Cleo", 1500, 2000), Recorded(3, "Dan", 1400, 2000)});
  EXPECT_THAT(page, HasSubstr("Cleo"));
  EXPECT_THAT(page, HasSubstr("c0ffee2 Change &lt;2&gt;"));
  EXPECT_THAT(page, HasSubstr("1,000 B"));
  EXPECT_THAT(page, Not(HasSubstr("Bob")));
  EXPECT_THAT(page, Not(HasSubstr("Dan")));
  EXPECT_THAT(page, HasSubstr("now 1.37 KiB (1,400 B) in BM_Load, of at most "
                              "1.95 KiB (2,000 B)"));
  EXPECT_THAT(page, HasSubstr("4 commits from 2026-11-10 to 2026-11-13, of "
                              "which 4 are recorded"));
}

TEST(HistoryPageTest, SaysThatOthersMayHaveRaisedIt) {
  const std::string page =
      PageOf({Recorded(0, "Ann", 1000, 2000), MakeCommit(1, "Bob"),
              MakeCommit(2, "Bob"), Recorded(3, "Cleo", 1500, 2000)});
  EXPECT_THAT(page, HasSubstr("Cleo, or 2 before that are not recorded"));
}

// Another compiler's figures say nothing of who changed the code.
TEST(HistoryPageTest, BlamesNobodyForAnotherEnvironment) {
  HistoryCommit before = Recorded(0, "Ann", 1000, 2000);
  HistoryCommit after = Recorded(1, "Cleo", 1500, 2000);
  before.profiles->mutable_profiles(0)->mutable_environment()->set_compiler(
      "gcc");
  after.profiles->mutable_profiles(0)->mutable_environment()->set_compiler(
      "clang");
  const std::string page = PageOf({before, after});
  EXPECT_THAT(page, HasSubstr("measured in another environment"));
  EXPECT_THAT(page, HasSubstr("1,500 B"));
  EXPECT_THAT(page, Not(HasSubstr("Cleo")));
}

TEST(HistoryPageTest, WithoutRecordsItSaysSo) {
  EXPECT_THAT(PageOf({MakeCommit(0, "Ann")}),
              HasSubstr("No commit is recorded"));
  EXPECT_THAT(PageOf({}), HasSubstr("no commits"));
  EXPECT_THAT(PageOf({Recorded(0, "Ann", 5, 6)}),
              HasSubstr("No figure grew between two recorded commits"));
}

TEST(HistoryPageTest, WarningsStandOnIt) {
  const absl::StatusOr<std::string> page =
      WriteHistoryPage("//app:load.diff", {}, {"an object is damaged"});
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(*page, HasSubstr("an object is damaged"));
}

}  // namespace
}  // namespace footprint

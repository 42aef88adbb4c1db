#include "footprint/gates/explaining/gate_audit.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/explaining/explained_input.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/threshold_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ThresholdSource Parse(const std::string& path, const std::string& text) {
  ThresholdSource source = ParseThresholdFile(
      path, absl::StrCat("# proto-file: gates/judge/gate.proto\n"
                         "# proto-message: footprint.ThresholdFile\n"
                         "schema_version: 1\n",
                         text));
  EXPECT_THAT(source.problems, IsEmpty());
  return source;
}

// Returns a threshold of 2.5 MiB for BM_Fit, which measured 2 MiB, with `rest`
// as its further fields.
std::string Limit(const std::string& rest) {
  return absl::StrCat(
      "threshold { selector { label: '//a:b' benchmark: 'BM_Fit/*' } "
      "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 2621440 ",
      rest, " }\n");
}

constexpr char kLoad[] =
    "threshold { selector { label: '//a:b' benchmark: 'BM_Load' } "
    "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 90 }\n";

// Returns "kind location: message" for each finding.
std::vector<std::string> Audit(
    const std::vector<ThresholdSource>& sources,
    AuditOptions options = AuditOptions(),
    const MemoryProfile& profile = ExplainedProfile()) {
  GateInput input;
  input.profiles = {profile};
  input.thresholds = sources;
  if (options.today.empty()) options.today = "2026-11-22";
  std::vector<std::string> found;
  for (const AuditFinding& finding :
       AuditGates(input, Judge(input, EvaluationOptions()), options)) {
    found.push_back(absl::StrCat(FindingWord(finding.kind), " ",
                                 finding.location, ": ", finding.message, " ",
                                 finding.command));
  }
  return found;
}

TEST(GateAuditTest, FindsNothingWhereAllIsWell) {
  EXPECT_THAT(Audit({Parse("t.textproto", Limit("") + kLoad)}), IsEmpty());
}

TEST(GateAuditTest, ABenchmarkThatNothingBlocksIsUnguarded) {
  EXPECT_THAT(Audit({Parse("t.textproto", Limit(""))}),
              ElementsAre(AllOf(HasSubstr("unguarded //a:b BM_Load: no rule"),
                                HasSubstr("--add --only=//a:b"))));
  EXPECT_THAT(Audit({Parse("t.textproto", Limit("severity: WARN") + kLoad)}),
              ElementsAre(HasSubstr("unguarded //a:b BM_Fit/rows:10: only "
                                    "rules that do not block")));
}

TEST(GateAuditTest, ALimitThatMatchesNothingIsUnused) {
  const std::string gone =
      "shared: true threshold { selector { label: '//a:gone' } "
      "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }\n";
  EXPECT_THAT(Audit({Parse("t.textproto", Limit("") + kLoad),
                     Parse("u.textproto", gone)}),
              ElementsAre(HasSubstr("unused u.textproto:4: //a:gone * names "
                                    "nothing with peak_live_usable_bytes")));
}

TEST(GateAuditTest, AFileOfAnotherEnvironmentIsNeverRun) {
  const std::string other =
      "environment { compiler: 'clang' } threshold { selector { label: "
      "'//a:b' benchmark: 'BM_Load' } metric: PEAK_LIVE_USABLE_BYTES "
      "exact_bytes: 1 }";
  EXPECT_THAT(Audit({Parse("t.textproto", Limit("") + kLoad),
                     Parse("clang.textproto", other)}),
              ElementsAre(HasSubstr("never run clang.textproto: no profile")));
}

TEST(GateAuditTest, ALimitFarAboveItsHeadroomIsLoose) {
  const auto audit = [](const std::string& headroom) {
    return Audit({Parse("t.textproto", headroom + Limit("") + kLoad)});
  };
  EXPECT_THAT(audit("headroom { percent: 25 }\n"), IsEmpty());
  EXPECT_THAT(audit("headroom { bytes: 524288 }\n"), IsEmpty());
  EXPECT_THAT(audit("headroom { percent: 24.9 }\n"),
              ElementsAre(AllOf(
                  HasSubstr("loose t.textproto:5: max 2.50 MiB (2,621,440 B) "
                            "is 25.0 % above the highest it judges, 2.00 MiB"),
                  HasSubstr("its file states a headroom of 24.9 %"),
                  HasSubstr("--only=//a:b --benchmark='BM_Fit/*'"))));
  EXPECT_THAT(audit("headroom { bytes: 524287 }\n"), SizeIs(1));
  EXPECT_THAT(audit("headroom { exact: true }\n"),
              ElementsAre(HasSubstr("states no headroom")));
  // The options state a headroom where the file does not.
  AuditOptions options;
  options.headroom = Headroom();
  options.headroom->set_percent(10);
  EXPECT_THAT(Audit({Parse("t.textproto", Limit("") + kLoad)}, options),
              ElementsAre(AllOf(HasSubstr("you asked for a headroom of 10 %"),
                                HasSubstr("--headroom=10%"))));
}

// The headroom of a negative figure lies above it, too.
TEST(GateAuditTest, TheLimitThatAnUpdateWritesIsNotLoose) {
  MemoryProfile profile = ExplainedProfile();
  Metric* const growth = profile.mutable_benchmarks(1)->add_metrics();
  growth->set_kind(NET_GROWTH_USABLE_BYTES);
  growth->set_determinism(EXACT);
  growth->set_value(-100);
  const auto audit = [&](const std::string& limit) {
    return Audit(
        {Parse("t.textproto",
               absl::StrCat("headroom { percent: 10 }\n", Limit(""),
                            "threshold { selector { label: '//a:b' benchmark: "
                            "'BM_Load' } metric: NET_GROWTH_USABLE_BYTES ",
                            limit, " }\n"))},
        AuditOptions(), profile);
  };
  // Limit("") is 25 % above its figure.
  EXPECT_THAT(audit("max_bytes: -90"), ElementsAre(HasSubstr("BM_Fit")));
  EXPECT_THAT(audit("max_bytes: -100"), ElementsAre(HasSubstr("BM_Fit")));
  EXPECT_THAT(audit("max_bytes: -89"),
              ElementsAre(HasSubstr("BM_Fit"), HasSubstr("max -89 B")));
}

TEST(GateAuditTest, ARaiseExpiresAfterItsLastDay) {
  const std::string raised = Limit(
      "history { date: '2026-11-01' old_value: 2500000 new_value: 2621440 "
      "reason: 'a release' expires: '2026-11-22' }");
  AuditOptions options;
  const std::vector<ThresholdSource> sources = {
      Parse("t.textproto", raised + kLoad)};
  EXPECT_THAT(Audit(sources, options), IsEmpty());
  options.today = "2026-11-23";
  EXPECT_THAT(
      Audit(sources, options),
      ElementsAre(AllOf(HasSubstr("expired t.textproto:4: was raised until "
                                  "2026-11-22 for \"a release\""),
                        HasSubstr("--allow_increase"))));
  // A later entry replaces the raise.
  const std::string lowered = Limit(
      "history { date: '2026-11-01' old_value: 2500000 new_value: 2700000 "
      "reason: 'a release' expires: '2026-11-22' } history { date: "
      "'2026-11-20' old_value: 2700000 new_value: 2621440 reason: 'done' }");
  EXPECT_THAT(Audit({Parse("t.textproto", lowered + kLoad)}, options),
              IsEmpty());
}

TEST(GateAuditTest, ALimitDriftsFromItsFirstValue) {
  const std::string grown = Limit(
      "history { date: '2026-11-01' new_value: 2000000 reason: 'first' } "
      "history { date: '2026-11-02' old_value: 2000000 new_value: 2300000 "
      "reason: 'more' } history { date: '2026-11-03' old_value: 2300000 "
      "new_value: 2621440 reason: 'more' }");
  EXPECT_THAT(
      Audit({Parse("t.textproto", grown + kLoad)}),
      ElementsAre(AllOf(HasSubstr("drifted t.textproto:4: //a:b BM_Fit/*: "),
                        HasSubstr("on 2026-11-01, now 2.50 MiB"),
                        HasSubstr("+31.1 % in 3 entries"))));
  AuditOptions options;
  options.drift_percent = 32;
  EXPECT_THAT(Audit({Parse("t.textproto", grown + kLoad)}, options), IsEmpty());
}

TEST(GateAuditTest, WhatKeepsAllFromBeingJudgedIsAFinding) {
  ThresholdSource broken = Parse("t.textproto", Limit("") + kLoad);
  broken.problems.emplace_back();
  broken.problems.back().set_decision(BAD_CONFIGURATION);
  broken.problems.back().set_location("t.textproto:4");
  EXPECT_THAT(Audit({broken}), testing::Contains(HasSubstr("broken t.textp")));
}

}  // namespace
}  // namespace footprint

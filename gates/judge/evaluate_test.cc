#include "footprint/gates/judge/evaluate.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void MarkExact(google::protobuf::RepeatedPtrField<Metric>* metrics) {
  for (Metric& metric : *metrics) {
    if (metric.determinism() == DETERMINISM_UNSPECIFIED) {
      metric.set_determinism(EXACT);
    }
  }
}

MemoryProfile Profile(const std::string& text) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &profile))
      << text;
  // The rule memory_profile writes three processes and EXACT figures.
  if (profile.process_count() == 0) profile.set_process_count(3);
  for (BenchmarkMemory& benchmark : *profile.mutable_benchmarks()) {
    MarkExact(benchmark.mutable_metrics());
    for (Phase& phase : *benchmark.mutable_phases()) {
      MarkExact(phase.mutable_metrics());
    }
  }
  return profile;
}

// Makes a threshold source, also one that ParseThresholdFile would refuse.
ThresholdSource Source(const std::string& text,
                       const std::string& path = "t.textproto") {
  ThresholdSource source;
  source.path = path;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &source.file))
      << text;
  for (int i = 0; i < source.file.threshold_size(); ++i) {
    source.lines.push_back(10 * (i + 1));
  }
  for (int i = 0; i < source.file.exemption_size(); ++i) {
    source.exemption_lines.push_back(1000 + i);
  }
  return source;
}

Verdict Judge(const std::vector<MemoryProfile>& profiles,
              const std::vector<ThresholdSource>& sources,
              bool is_complete = true) {
  EvaluationOptions options;
  options.is_complete = is_complete;
  return Evaluate(profiles, sources, options);
}

// Returns "location: message" of the only problem.
std::string OnlyProblem(const Verdict& verdict) {
  if (verdict.problems_size() != 1) return verdict.DebugString();
  return absl::StrCat(verdict.problems(0).location(), ": ",
                      verdict.problems(0).message());
}

constexpr char kProfile[] = R"pb(
  label: "//a:b"
  environment { allocator: "jemalloc 5.3.0" compiler: "gcc 12.2.0" }
  benchmarks {
    name: "BM_Load/rows:10"
    arguments { name: "rows" value: "10" }
    metrics { kind: PEAK_LIVE_USABLE_BYTES value: 1000 }
    metrics { kind: ALLOCATION_COUNT value: 7 }
    phases {
      name: "loop/read"
      metrics { kind: PEAK_LIVE_USABLE_BYTES value: 400 }
    }
  }
)pb";

// Returns a threshold for the benchmark of kProfile.
std::string Rule(const std::string& fields) {
  return absl::StrCat("threshold { selector { label: '//a:b' } ", fields, " }");
}

// Exempts the benchmark where the rules of a test limit no peak.
constexpr char kExempt[] =
    "exemption { selector { label: '//a:b' } reason: 'a test' }";

std::string PeakRule(const std::string& fields) {
  return Rule(absl::StrCat("metric: PEAK_LIVE_USABLE_BYTES ", fields));
}

TEST(EvaluateTest, AcceptsAtTheLimitAndRejectsAByteAbove) {
  const Verdict accepted =
      Judge({Profile(kProfile)}, {Source(PeakRule("max_bytes: 1000"))});
  EXPECT_EQ(accepted.decision(), ACCEPT);
  EXPECT_THAT(accepted.problems(), IsEmpty());
  ASSERT_THAT(accepted.judgements(), SizeIs(1));
  EXPECT_EQ(accepted.judgements(0).command_to_accept(), "");

  const Verdict rejected =
      Judge({Profile(kProfile)}, {Source(PeakRule("max_bytes: 999"))});
  EXPECT_EQ(rejected.decision(), REJECT);
  ASSERT_THAT(rejected.judgements(), SizeIs(1));
  const Judgement& judgement = rejected.judgements(0);
  EXPECT_EQ(judgement.label(), "//a:b");
  EXPECT_EQ(judgement.benchmark(), "BM_Load/rows:10");
  EXPECT_EQ(judgement.phase(), "");
  EXPECT_EQ(judgement.metric(), PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(judgement.measured(), 1000);
  EXPECT_EQ(judgement.limit(), 999);
  EXPECT_EQ(judgement.rule(), MAXIMUM);
  EXPECT_EQ(judgement.severity(), BLOCK);
  EXPECT_EQ(judgement.decision(), REJECT);
  EXPECT_EQ(judgement.threshold_location(), "t.textproto:10");
  EXPECT_EQ(judgement.command_to_accept(),
            "bazel run //gates:update -- --allow_increase --reason=\"...\" "
            "--only=//a:b --benchmark=BM_Load/rows:10");
}

TEST(EvaluateTest, PassesOnWhatTheProducerSays) {
  MemoryProfile profile = Profile(kProfile);
  profile.add_remarks()->set_about("memo plan");
  profile.mutable_remarks(0)->set_text("5 loads");
  const Verdict verdict =
      Judge({profile}, {Source(PeakRule("max_bytes: 1000"))});
  EXPECT_EQ(verdict.decision(), ACCEPT);
  ASSERT_THAT(verdict.remarks(), SizeIs(1));
  EXPECT_EQ(verdict.remarks(0).label(), "//a:b");
  EXPECT_EQ(verdict.remarks(0).remark().about(), "memo plan");
  EXPECT_EQ(verdict.remarks(0).remark().text(), "5 loads");
}

TEST(EvaluateTest, ExactValuesRejectBothWays) {
  for (const auto& [value, decision] : std::vector<std::pair<int, Decision>>{
           {999, REJECT}, {1000, ACCEPT}, {1001, REJECT}}) {
    const Verdict verdict =
        Judge({Profile(kProfile)},
              {Source(PeakRule(absl::StrCat("exact_bytes: ", value)))});
    EXPECT_EQ(verdict.decision(), decision) << value;
    EXPECT_EQ(verdict.judgements(0).rule(), EXACT_VALUE);
  }
  // A decrease needs no reason.
  const Verdict less =
      Judge({Profile(kProfile)}, {Source(PeakRule("exact_bytes: 1001"))});
  EXPECT_EQ(less.judgements(0).command_to_accept(),
            "bazel run //gates:update -- --only=//a:b "
            "--benchmark=BM_Load/rows:10");
}

TEST(EvaluateTest, MinimumAndMaximumAreTwoJudgements) {
  const Verdict verdict =
      Judge({Profile(kProfile)},
            {Source(PeakRule("max_bytes: 1500 min_bytes: 1001"))});
  EXPECT_EQ(verdict.decision(), REJECT);
  ASSERT_THAT(verdict.judgements(), SizeIs(2));
  EXPECT_EQ(verdict.judgements(0).rule(), MAXIMUM);
  EXPECT_EQ(verdict.judgements(0).decision(), ACCEPT);
  EXPECT_EQ(verdict.judgements(1).rule(), MINIMUM);
  EXPECT_EQ(verdict.judgements(1).decision(), REJECT);
  EXPECT_EQ(Judge({Profile(kProfile)},
                  {Source(PeakRule("max_bytes: 1500 min_bytes: 1000"))})
                .decision(),
            ACCEPT);
}

TEST(EvaluateTest, CountsAreJudgedAsBytesAre) {
  for (const auto& [fields, decision] :
       std::vector<std::pair<const char*, Decision>>{
           {"max_count: 7", ACCEPT},
           {"max_count: 6", REJECT},
           {"exact_count: 7", ACCEPT},
           {"exact_count: 8", REJECT},
           {"min_count: 7", ACCEPT},
           {"min_count: 8", REJECT}}) {
    EXPECT_EQ(
        Judge({Profile(kProfile)},
              {Source(kExempt +
                      Rule(absl::StrCat("metric: ALLOCATION_COUNT ", fields)))})
            .decision(),
        decision)
        << fields;
  }
}

TEST(EvaluateTest, ARatioIsHeldAgainstItsBaseline) {
  MemoryProfile profile = Profile(kProfile);
  *profile.add_benchmarks() =
      Profile(
          "benchmarks { name: 'BM_Eager' metrics { kind: "
          "PEAK_LIVE_USABLE_BYTES value: 2000 } }")
          .benchmarks(0);
  const std::string others =
      "threshold { selector { label: '//a:b' benchmark: 'BM_Eager' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_bytes: 2000 }";
  const auto judge = [&](const std::string& ratio,
                         const std::string& baseline) {
    return Judge({profile},
                 {Source(absl::StrCat(
                     others,
                     "threshold { selector { label: '//a:b' benchmark: "
                     "'BM_Load*' } metric: PEAK_LIVE_USABLE_BYTES max_ratio { "
                     "ratio: ",
                     ratio, " baseline { ", baseline, " } } }"))});
  };
  const std::string eager = "label: '//a:b' benchmark: 'BM_Eager'";
  EXPECT_EQ(judge("0.5", eager).decision(), ACCEPT);
  const Verdict rejected = judge("0.4999", eager);
  EXPECT_EQ(rejected.decision(), REJECT);
  EXPECT_EQ(rejected.judgements(0).limit(), 999);
  EXPECT_EQ(rejected.judgements(0).rule(), MAXIMUM_RATIO);
  EXPECT_THAT(OnlyProblem(judge("1", "label: '//a:b' benchmark: 'BM_Gone'")),
              HasSubstr("t.textproto:20: the baseline //a:b BM_Gone "
                        "peak_live_usable_bytes is not measured here"));
  EXPECT_THAT(OnlyProblem(judge("1", "label: '//a:b' benchmark: 'BM_*'")),
              HasSubstr("is ambiguous"));
  profile.mutable_benchmarks(1)->mutable_metrics(0)->set_value(0);
  const Verdict zero = judge("1", eager);
  EXPECT_EQ(zero.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(zero), HasSubstr("is 0, and a ratio needs one above "
                                           "zero"));
  profile.mutable_benchmarks(1)->clear_metrics();
  profile.mutable_benchmarks(1)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(judge("1", eager).decision(), INCONCLUSIVE);
}

TEST(EvaluateTest, ABaselineWhoseProducerFailedIsTheProducersFault) {
  MemoryProfile failed =
      Profile("label: '//a:eager' failure { kind: TIMED_OUT }");
  const Verdict verdict = Judge(
      {Profile(kProfile), failed},
      {Source(PeakRule("max_ratio { ratio: 1 baseline { label: '//a:eager' "
                       "benchmark: 'BM_Eager' } }"))});
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
  EXPECT_THAT(verdict.problems(), SizeIs(1));
}

TEST(EvaluateTest, OnlyBlockingRulesReject) {
  for (const char* severity : {"WARN", "AUDIT"}) {
    const Verdict verdict = Judge(
        {Profile(kProfile)},
        {Source(kExempt +
                PeakRule(absl::StrCat("max_bytes: 1 severity: ", severity)))});
    EXPECT_EQ(verdict.decision(), ACCEPT);
    EXPECT_EQ(verdict.judgements(0).decision(), REJECT);
  }
  EXPECT_EQ(Judge({Profile(kProfile)},
                  {Source(PeakRule("max_bytes: 1 severity: BLOCK"))})
                .decision(),
            REJECT);
}

TEST(EvaluateTest, PhasesAreJudgedByName) {
  const auto judge = [](const std::string& phase) {
    return Judge(
        {Profile(kProfile)},
        {Source(absl::StrCat(
            kExempt, "threshold { selector { label: '//a:b' phase: '", phase,
            "' } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 400 }"))});
  };
  const Verdict verdict = judge("loop/read");
  EXPECT_EQ(verdict.decision(), ACCEPT);
  EXPECT_EQ(verdict.judgements(0).phase(), "loop/read");
  EXPECT_EQ(verdict.judgements(0).measured(), 400);
  EXPECT_THAT(OnlyProblem(judge("loop/raed")),
              HasSubstr("there is no phase \"loop/raed\" (did you mean "
                        "\"loop/read\"?)"));
}

TEST(EvaluateTest, AThresholdThatMatchesNothingIsNamedWithTheNearestName) {
  const std::string covered = PeakRule("max_bytes: 1000");
  const auto problem = [&](const std::string& selector,
                           const std::string& metric) {
    const Verdict verdict =
        Judge({Profile(kProfile)},
              {Source(absl::StrCat(covered, "threshold { selector { ", selector,
                                   " } metric: ", metric, " min_bytes: 1 }"))});
    EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
    return OnlyProblem(verdict);
  };
  EXPECT_THAT(problem("label: '//a:b' benchmark: 'BM_Laod/rows:10'",
                      "PEAK_LIVE_USABLE_BYTES"),
              AllOf(HasSubstr("t.textproto:20: matches nothing"),
                    HasSubstr("did you mean \"BM_Load/rows:10\"?")));
  EXPECT_THAT(problem("label: '//a:b' arguments { name: 'rows' value: '20' }",
                      "PEAK_LIVE_USABLE_BYTES"),
              HasSubstr("no benchmark of that name has these arguments"));
  EXPECT_THAT(problem("label: '//a:b'", "PEAK_LIVE_REQUESTED_BYTES"),
              HasSubstr("peak_live_requested_bytes is not in the profile (did "
                        "you mean \"peak_live_usable_bytes\"?)"));
  EXPECT_THAT(problem("label: '//a:c'", "PEAK_LIVE_USABLE_BYTES"),
              HasSubstr("no profile of this gate has the label //a:c (did you "
                        "mean \"//a:b\"?)"));
}

TEST(EvaluateTest, AProgramThatTellsTooLittleNeedsALimitForTheRest) {
  MemoryProfile profile = Profile(R"pb(
    label: "//a:b"
    benchmarks {
      name: "whole_process/b"
      metrics { kind: PEAK_RESIDENT_BYTES value: 50000000 }
      metrics { kind: RESIDENT_ANONYMOUS_BYTES value: 40000000 }
      phases {
        name: "unaccounted"
        metrics { kind: RESIDENT_ANONYMOUS_BYTES value: 30000000 }
      }
    }
  )pb");
  const std::string whole =
      "threshold { selector { label: '//a:b' benchmark: 'whole_process/b' } "
      "metric: PEAK_RESIDENT_BYTES max_bytes: 60000000 }";
  const Verdict verdict = Judge({profile}, {Source(whole)});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict), HasSubstr("leave out 30000000 bytes"));
  const std::string rest =
      "threshold { selector { label: '//a:b' benchmark: 'whole_process/b' "
      "phase: 'unaccounted' } metric: RESIDENT_ANONYMOUS_BYTES "
      "max_bytes: 30000000 ";
  EXPECT_EQ(Judge({profile}, {Source(whole + rest + "reason: 'tables' }")})
                .decision(),
            ACCEPT);
  // A rule that does not block, or that gives no reason, does not count.
  for (const char* fields : {"}", "severity: AUDIT reason: 'tables' }"}) {
    EXPECT_EQ(Judge({profile}, {Source(whole + rest + fields)}).decision(),
              BAD_CONFIGURATION)
        << fields;
  }
}

TEST(EvaluateTest, ASingleProfileMayBeJudgedByAFileOfMany) {
  const std::string text =
      PeakRule("max_bytes: 1000") +
      "threshold { selector { label: '//a:other' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_bytes: 1 }";
  const std::string shared = "shared: true " + text;
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(shared)}, false).decision(),
            ACCEPT);
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(shared)}, true).decision(),
            BAD_CONFIGURATION);
  // An unknown label is a problem unless the file is `shared`: a mistyped label
  // would judge nothing.
  for (bool is_complete : {false, true}) {
    const Verdict verdict =
        Judge({Profile(kProfile)}, {Source(text)}, is_complete);
    EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
    EXPECT_THAT(OnlyProblem(verdict),
                AllOf(HasSubstr("t.textproto:20: no profile of this gate has "
                                "the label //a:other"),
                      HasSubstr("\"shared: true\"")));
  }
}

TEST(EvaluateTest, ASharedFileOfNoneOfTheProfilesIsNamed) {
  const Verdict verdict =
      Judge({Profile(kProfile)},
            {Source(PeakRule("max_bytes: 1000"), "one.textproto"),
             Source("shared: true threshold { selector { label: '//a:c' } "
                    "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1 }",
                    "two.textproto")},
            false);
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              HasSubstr("two.textproto: none of its labels"));
}

// Makes two benchmarks with a phase each, and with every metric of kProfile.
MemoryProfile TwoBenchmarks() {
  MemoryProfile profile = Profile(kProfile);
  *profile.add_benchmarks() = profile.benchmarks(0);
  profile.mutable_benchmarks(1)->set_name("BM_Load/rows:20");
  Phase* phase = profile.mutable_benchmarks(1)->mutable_phases(0);
  phase->mutable_metrics(0)->set_value(999999);
  return profile;
}

std::string PhaseRule(const std::string& phase) {
  return absl::StrCat(PeakRule("max_bytes: 1000"),
                      "threshold { selector { label: '//a:b' benchmark: "
                      "'BM_Load/*' phase: '",
                      phase,
                      "' } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 400 }");
}

TEST(EvaluateTest, ABenchmarkThatLostItsPhaseIsNamed) {
  MemoryProfile profile = TwoBenchmarks();
  EXPECT_EQ(Judge({profile}, {Source(PhaseRule("loop/read"))}).decision(),
            REJECT);
  profile.mutable_benchmarks(1)->mutable_phases(0)->set_name("loop/raed");
  const Verdict verdict = Judge({profile}, {Source(PhaseRule("loop/read"))});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              AllOf(HasSubstr("t.textproto:20: does not judge //a:b "
                              "BM_Load/rows:20, which it names: there is no "
                              "phase \"loop/read\" (did you mean "
                              "\"loop/raed\"?)")));
}

TEST(EvaluateTest, ABenchmarkThatLostItsMetricIsNamed) {
  MemoryProfile profile = TwoBenchmarks();
  profile.mutable_benchmarks(1)->mutable_metrics()->DeleteSubrange(0, 1);
  const Verdict verdict =
      Judge({profile}, {Source(PeakRule("max_bytes: 1000"))});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              HasSubstr("does not judge //a:b BM_Load/rows:20, which it names: "
                        "peak_live_usable_bytes is not in the profile"));
  // The same holds for one of several phases that a rule names.
  profile = TwoBenchmarks();
  profile.mutable_benchmarks(1)->mutable_phases(0)->clear_metrics();
  Phase* other = profile.mutable_benchmarks(1)->add_phases();
  *other = profile.benchmarks(0).phases(0);
  other->set_name("loop/parse");
  EXPECT_THAT(OnlyProblem(Judge({profile}, {Source(PhaseRule("loop/*"))})),
              HasSubstr("does not judge //a:b BM_Load/rows:20"));
}

TEST(EvaluateTest, OneProblemForAllThatARuleLost) {
  MemoryProfile profile = TwoBenchmarks();
  for (int i = 2; i < 7; ++i) {
    *profile.add_benchmarks() = profile.benchmarks(0);
    profile.mutable_benchmarks(i)->set_name(absl::StrCat("BM_Load/rows:", i));
    profile.mutable_benchmarks(i)->clear_phases();
  }
  profile.mutable_benchmarks(1)
      ->mutable_phases(0)
      ->mutable_metrics(0)
      ->set_value(1);
  EXPECT_THAT(OnlyProblem(Judge({profile}, {Source(PhaseRule("loop/read"))})),
              HasSubstr("//a:b BM_Load/rows:4 and 2 more, which it names"));
}

TEST(EvaluateTest, OneProcessShowsNoRepeating) {
  for (int count : {0, 1, 2}) {
    MemoryProfile profile = Profile(kProfile);
    profile.set_process_count(count);
    const Verdict verdict =
        Judge({profile}, {Source(PeakRule("max_bytes: 1000"))});
    EXPECT_EQ(verdict.decision(), INCONCLUSIVE);
    EXPECT_THAT(OnlyProblem(verdict),
                HasSubstr(absl::StrCat("//a:b: was measured in ", count,
                                       " processes, so nothing shows")));
    // A value above the limit is rejected all the same.
    EXPECT_EQ(Judge({profile}, {Source(PeakRule("max_bytes: 999"))}).decision(),
              REJECT);
  }
}

TEST(EvaluateTest, OnlyAnExactMetricIsHeldToOneValue) {
  for (Determinism determinism : {BOUNDED, STATISTICAL}) {
    MemoryProfile profile = Profile(kProfile);
    profile.mutable_benchmarks(0)->mutable_metrics(0)->set_determinism(
        determinism);
    for (const char* fields :
         {"exact_bytes: 1000", "max_bytes: 1000 min_bytes: 1000"}) {
      const Verdict verdict = Judge({profile}, {Source(PeakRule(fields))});
      EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
      EXPECT_THAT(verdict.judgements(), IsEmpty());
      EXPECT_THAT(OnlyProblem(verdict),
                  AllOf(HasSubstr("does not judge peak_live_usable_bytes of "
                                  "//a:b BM_Load/rows:10"),
                        HasSubstr(Determinism_Name(determinism))));
    }
    // A limit may judge a BOUNDED figure, and the judgement says that it was
    // BOUNDED.
    for (const char* fields :
         {"max_bytes: 1000", "max_bytes: 1000 min_bytes: 999"}) {
      const Verdict verdict = Judge({profile}, {Source(PeakRule(fields))});
      EXPECT_EQ(verdict.decision(), ACCEPT);
      EXPECT_EQ(verdict.judgements(0).determinism(), determinism);
    }
  }
}

TEST(EvaluateTest, ARatioHasTheWeakerClassOfBoth) {
  MemoryProfile profile = TwoBenchmarks();
  profile.mutable_benchmarks(1)->mutable_metrics(0)->set_determinism(BOUNDED);
  const Verdict verdict =
      Judge({profile},
            {Source(PeakRule("max_ratio { ratio: 1 baseline { label: '//a:b' "
                             "benchmark: 'BM_Load/rows:20' } }"))});
  EXPECT_EQ(verdict.decision(), ACCEPT);
  EXPECT_EQ(verdict.judgements(0).determinism(), BOUNDED);
}

TEST(EvaluateTest, ABaselineThatForkedIsInconclusive) {
  MemoryProfile profile = TwoBenchmarks();
  profile.mutable_benchmarks(1)->set_forked_process_count(1);
  const std::string warned =
      "threshold { selector { label: '//a:b' benchmark: '*20' } metric: "
      "ALLOCATION_COUNT max_count: 7 severity: WARN }";
  // Under a rule that does not block, the problem is shown but does not count.
  const std::string other =
      "threshold { selector { label: '//a:b' benchmark: '*10' } metric: "
      "PEAK_LIVE_USABLE_BYTES ";
  const Verdict shown = Judge(
      {profile}, {Source(kExempt + warned + other + "max_bytes: 1000 }")});
  EXPECT_EQ(shown.decision(), ACCEPT);
  EXPECT_THAT(OnlyProblem(shown), HasSubstr("started 1 child processes"));
  const Verdict verdict =
      Judge({profile}, {Source(kExempt + warned + other +
                               "max_ratio { ratio: 1 baseline { label: '//a:b' "
                               "benchmark: 'BM_Load/rows:20' } } }")});
  EXPECT_EQ(verdict.decision(), INCONCLUSIVE);
  EXPECT_THAT(verdict.problems(), SizeIs(1));
}

TEST(EvaluateTest, ACommandToAcceptNamesAllThatItsRuleNames) {
  EXPECT_EQ(Judge({TwoBenchmarks()}, {Source(PeakRule("max_bytes: 999"))})
                .judgements(1)
                .command_to_accept(),
            "bazel run //gates:update -- --allow_increase --reason=\"...\" "
            "--only=//a:b");
  EXPECT_EQ(Judge({TwoBenchmarks()}, {Source(PhaseRule("loop/read"))})
                .judgements(3)
                .command_to_accept(),
            "bazel run //gates:update -- --allow_increase --reason=\"...\" "
            "--only=//a:b --benchmark='BM_Load/*'");
}

TEST(EvaluateTest, ABenchmarkWithoutAThresholdIsNamed) {
  MemoryProfile profile = Profile(kProfile);
  profile.add_benchmarks()->set_name("BM_New");
  const Verdict verdict = Judge(
      {profile},
      {Source("threshold { selector { label: '//a:b' benchmark: 'BM_Load*' } "
              "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 }")});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_EQ(OnlyProblem(verdict),
            "//a:b: no threshold judges benchmark \"BM_New\"; add what it "
            "needs now with: bazel run //gates:update -- --add --only=//a:b "
            "--benchmark=BM_New");
}

TEST(EvaluateTest, TwoRulesOfOneSortForOneMetricAreNamedTogether) {
  const Verdict verdict =
      Judge({Profile(kProfile)},
            {Source(PeakRule("max_bytes: 1000"), "one.textproto"),
             Source("threshold { selector { label: '*' benchmark: 'BM_Load*' } "
                    "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 2000 }",
                    "two.textproto")});
  // Neither selector names a part of what the other names.
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              AllOf(HasSubstr("two.textproto:10: is a second rule of the same "
                              "sort for peak_live_usable_bytes of //a:b "
                              "BM_Load/rows:10"),
                    HasSubstr("the other is at one.textproto:10")));
  // Rules of different sorts do not conflict.
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(PeakRule("max_bytes: 1000")),
                                        Source(PeakRule("exact_bytes: 1000"))})
                .decision(),
            ACCEPT);
}

TEST(EvaluateTest, AnExceptionJudgesInPlaceOfADefault) {
  const std::string exception =
      "threshold { selector { label: '//a:b' benchmark: 'BM_Load*' } "
      "metric: PEAK_LIVE_USABLE_BYTES ";
  const ThresholdSource general =
      Source(PeakRule("max_bytes: 1"), "general.textproto");
  const Verdict verdict = Judge(
      {Profile(kProfile)},
      {general, Source(exception + "max_bytes: 1000 }", "other.textproto")});
  EXPECT_EQ(verdict.decision(), ACCEPT);
  ASSERT_THAT(verdict.judgements(), SizeIs(1));
  EXPECT_EQ(verdict.judgements(0).threshold_location(), "other.textproto:10");
  ASSERT_THAT(verdict.overrides(), SizeIs(1));
  EXPECT_EQ(verdict.overrides(0).benchmark(), "BM_Load/rows:10");
  EXPECT_EQ(verdict.overrides(0).judging_location(), "other.textproto:10");
  EXPECT_EQ(verdict.overrides(0).general_location(), "general.textproto:10");
  // A default that an exception overrides does not count as a limit.
  const Verdict warned =
      Judge({Profile(kProfile)},
            {general, Source(exception + "max_bytes: 1000 severity: WARN }")});
  EXPECT_EQ(warned.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(warned),
              HasSubstr("no rule that blocks limits the peak"));
}

TEST(EvaluateTest, ALimitThatAwaitsItsFigureIsAMistake) {
  const Verdict verdict =
      Judge({Profile(kProfile)}, {Source(PeakRule("max: '+ 10 %'"))});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(verdict.problems(0).message(),
              AllOf(HasSubstr("above a figure that is missing"),
                    HasSubstr("bazel run //gates:update")));
}

TEST(EvaluateTest, ABenchmarkMeasuredTwiceIsNamed) {
  const Verdict verdict = Judge({Profile(kProfile), Profile(kProfile)},
                                {Source(PeakRule("max_bytes: 1000"))});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              HasSubstr("\"BM_Load/rows:10\" is measured twice"));
}

TEST(EvaluateTest, AFailedProducerIsQuotedAndExcusesItsThresholds) {
  const Verdict verdict =
      Judge({Profile("label: '//a:b' failure { kind: EXITED exit_status: 3 "
                     "standard_error_tail: 'no such file' }")},
            {Source(PeakRule("max_bytes: 1000"))});
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
  EXPECT_THAT(OnlyProblem(verdict), AllOf(HasSubstr("exited with status 3"),
                                          HasSubstr("no such file")));
}

TEST(EvaluateTest, WhatDidNotRepeatIsInconclusiveUnderABlockingRule) {
  MemoryProfile profile = Profile(kProfile);
  profile.mutable_benchmarks(0)->add_unrepeated(PEAK_MAPPED_BYTES);
  const auto judge = [&](const std::string& severity) {
    return Judge(
        {profile},
        {Source(kExempt +
                Rule(absl::StrCat(
                    "metric: PEAK_MAPPED_BYTES max_bytes: 1 severity: ",
                    severity)))});
  };
  EXPECT_EQ(judge("BLOCK").decision(), INCONCLUSIVE);
  EXPECT_THAT(OnlyProblem(judge("BLOCK")),
              HasSubstr("was not the same in every process"));
  // The problem is shown all the same.
  EXPECT_EQ(judge("WARN").decision(), ACCEPT);
  EXPECT_THAT(judge("WARN").problems(), SizeIs(1));
}

// The message does not claim that a repeated figure differed.
TEST(EvaluateTest, SaysThatAPeakDependsOnTheOrderOfThreads) {
  MemoryProfile profile = Profile(kProfile);
  profile.mutable_benchmarks(0)->add_unrepeated(PEAK_MAPPED_BYTES);
  profile.mutable_benchmarks(0)->add_order_dependent(PEAK_MAPPED_BYTES);
  const Verdict verdict =
      Judge({profile},
            {Source(kExempt + Rule("metric: PEAK_MAPPED_BYTES max_bytes: 1"))});
  EXPECT_EQ(verdict.decision(), INCONCLUSIVE);
  EXPECT_THAT(OnlyProblem(verdict),
              AllOf(HasSubstr("was made by threads that may overlap"),
                    testing::Not(HasSubstr("not the same in every process"))));
}

// The other benchmarks are judged, and rules for the failed one are no
// mistakes.
TEST(EvaluateTest, ABenchmarkThatFailedTakesNoOtherWithIt) {
  MemoryProfile profile = Profile(kProfile);
  profile.mutable_failure()->set_kind(ProducerFailure::BENCHMARKS_FAILED);
  profile.mutable_failure()->set_detail("BM_Fail: error: as asked");
  const Verdict verdict =
      Judge({profile},
            {Source(absl::StrCat(PeakRule("max_bytes: 1000000"),
                                 " threshold { selector { label: '//a:b' "
                                 "benchmark: 'BM_Fail' } metric: "
                                 "PEAK_LIVE_USABLE_BYTES max_bytes: 1 }"))});
  EXPECT_EQ(verdict.decision(), PRODUCER_FAILED);
  EXPECT_THAT(OnlyProblem(verdict), HasSubstr("BM_Fail: error: as asked"));
  EXPECT_THAT(verdict.judgements(), SizeIs(1));
}

TEST(EvaluateTest, ABenchmarkThatForkedIsInconclusiveOnce) {
  MemoryProfile profile = Profile(kProfile);
  profile.mutable_benchmarks(0)->set_forked_process_count(2);
  const auto judge = [&](const std::string& fields) {
    return Judge({profile},
                 {Source(kExempt + PeakRule(fields) +
                         Rule("metric: ALLOCATION_COUNT severity: AUDIT "
                              "max_count: 7"))});
  };
  EXPECT_EQ(judge("max_bytes: 1000 min_bytes: 1").decision(), INCONCLUSIVE);
  EXPECT_THAT(OnlyProblem(judge("max_bytes: 1000 min_bytes: 1")),
              HasSubstr("started 2 child processes"));
  EXPECT_EQ(judge("max_bytes: 1000 severity: WARN").decision(), ACCEPT);
  // A value above the limit without the children is rejected.
  EXPECT_EQ(judge("max_bytes: 999").decision(), REJECT);
}

TEST(EvaluateTest, AFileOfAnotherEnvironmentDoesNotJudge) {
  const std::string here =
      "environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc 12.2.0' } ";
  const std::string there =
      "environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc 13.1.0' } ";
  const Verdict mismatch = Judge(
      {Profile(kProfile)},
      {Source(there + PeakRule("exact_bytes: 1"), "t/a.debian13.textproto")});
  EXPECT_EQ(mismatch.decision(), ENVIRONMENT_MISMATCH);
  EXPECT_THAT(mismatch.judgements(), IsEmpty());
  EXPECT_EQ(OnlyProblem(mismatch),
            "//a:b: thresholds are kept for other environments only; here "
            "compiler is \"gcc 12.2.0\", not \"gcc 13.1.0\" in "
            "t/a.debian13.textproto; measure there, or accept this environment "
            "with: bazel run //gates:update -- "
            "--environment=t/a.gcc-12.2.0.textproto --only=//a:b");
  // If the environment has its own file, the other file does not matter.
  const Verdict accepted = Judge(
      {Profile(kProfile)}, {Source(there + PeakRule("exact_bytes: 1")),
                            Source(here + PeakRule("exact_bytes: 1000"))});
  EXPECT_EQ(accepted.decision(), ACCEPT);
  EXPECT_THAT(accepted.judgements(), SizeIs(1));
  // Limits that hold everywhere still reject.
  EXPECT_EQ(
      Judge({Profile(kProfile)}, {Source(there + PeakRule("exact_bytes: 1")),
                                  Source(PeakRule("max_bytes: 999"))})
          .decision(),
      REJECT);
}

// Another benchmark's value for this environment must not hide that this
// benchmark has none.
TEST(EvaluateTest, ABenchmarkThatIsJudgedElsewhereOnlyIsNamed) {
  const std::string here =
      "environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc 12.2.0' } ";
  const std::string there =
      "environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc 13.1.0' } ";
  const auto rule = [](const char* benchmark, const char* fields) {
    return absl::StrCat("threshold { selector { label: '//a:b' benchmark: '",
                        benchmark, "' } ", fields, " }");
  };
  const std::string peak = "metric: PEAK_LIVE_USABLE_BYTES exact_bytes: 1000";
  const std::string count = "metric: ALLOCATION_COUNT exact_count: 7";
  const std::string common =
      kExempt + rule("*", "metric: ALLOCATION_COUNT max_count: 7");
  const ThresholdSource own = Source(here + rule("*10", peak.c_str()), "own.t");
  const auto judge = [&](const std::string& elsewhere) {
    return Judge({TwoBenchmarks()},
                 {Source(there + elsewhere, "other.t"), own, Source(common)});
  };
  EXPECT_EQ(judge(rule("*10", peak.c_str())).decision(), ACCEPT);
  const Verdict benchmark = judge(rule("*20", peak.c_str()));
  EXPECT_EQ(benchmark.decision(), ENVIRONMENT_MISMATCH);
  EXPECT_EQ(OnlyProblem(benchmark),
            "//a:b: is not judged here, since thresholds are kept for other "
            "environments only (other.t:10): peak_live_usable_bytes of "
            "//a:b BM_Load/rows:20; here compiler is \"gcc 12.2.0\", not \"gcc "
            "13.1.0\" in other.t; measure there, or accept this environment "
            "with: bazel run //gates:update -- --environment=own.t "
            "--only=//a:b");
  // The same holds for another metric of a benchmark that has a value here.
  EXPECT_THAT(OnlyProblem(judge(rule("*10", count.c_str()))),
              HasSubstr("allocation_count of //a:b BM_Load/rows:10"));
  // Without the common rule there is still one mismatch, for the other
  // benchmark.
  const Verdict only =
      Judge({TwoBenchmarks()},
            {Source(there + rule("*20", peak.c_str()), "other.t"), own});
  EXPECT_EQ(only.decision(), ENVIRONMENT_MISMATCH);
  EXPECT_THAT(only.problems(), SizeIs(1));
  // The benchmark is named elsewhere, but lacks the metric that is judged
  // there.
  MemoryProfile lost = TwoBenchmarks();
  lost.mutable_benchmarks(1)->clear_metrics();
  EXPECT_THAT(
      OnlyProblem(Judge(
          {lost}, {Source(there + rule("*20", peak.c_str()), "other.t"), own})),
      HasSubstr("no threshold judges benchmark \"BM_Load/rows:20\""));
}

TEST(EvaluateTest, TheNearestEnvironmentIsNamed) {
  const Verdict verdict = Judge(
      {Profile(kProfile)},
      {Source("environment { allocator: 'other' compiler: 'other' }" +
                  PeakRule("exact_bytes: 1"),
              "far.textproto"),
       Source("environment { allocator: 'jemalloc 5.3.0' compiler: 'other' }" +
                  PeakRule("exact_bytes: 1"),
              "near.textproto")});
  EXPECT_THAT(OnlyProblem(verdict), HasSubstr("in near.textproto"));
}

TEST(EvaluateTest, ABadFileStopsTheJudging) {
  ThresholdSource bad = Source(PeakRule("max_bytes: 1000"));
  Problem problem;
  problem.set_decision(BAD_CONFIGURATION);
  problem.set_location("t:1:2");
  problem.set_message("is wrong");
  bad.problems.push_back(problem);
  const Verdict verdict = Judge({Profile(kProfile)}, {bad});
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_EQ(OnlyProblem(verdict), "t:1:2: is wrong");
  EXPECT_THAT(verdict.judgements(), IsEmpty());
}

TEST(EvaluateTest, NothingToJudgeIsNoAcceptance) {
  EXPECT_EQ(Judge({}, {Source(PeakRule("max_bytes: 1"))}, false).decision(),
            BAD_CONFIGURATION);
  EXPECT_EQ(Judge({Profile(kProfile)}, {}).decision(), BAD_CONFIGURATION);
  EXPECT_EQ(Judge({Profile("label: '//a:b'")},
                  {Source(PeakRule("max_bytes: 1"))}, false)
                .decision(),
            PRODUCER_FAILED);
}

TEST(EvaluateTest, TheWorstDecisionIsTheWhole) {
  // One profile for each decision. The loop takes every subset of them.
  const std::vector<std::pair<Decision, MemoryProfile>> kinds = {
      {BAD_CONFIGURATION,
       Profile("label: '//x:unjudged' benchmarks { name: 'B' "
               "}")},
      {REJECT,
       Profile("label: '//x:big' benchmarks { name: 'B' metrics { kind: "
               "ALLOCATION_COUNT value: 2 } }")},
      {PRODUCER_FAILED, Profile("label: '//x:dead' failure { kind: EXITED }")},
      {ENVIRONMENT_MISMATCH,
       Profile("label: '//x:elsewhere' environment { compiler: 'y' } "
               "benchmarks { name: 'B' }")},
      {INCONCLUSIVE, Profile("label: '//x:shaky' benchmarks { name: 'B' "
                             "unrepeated: ALLOCATION_COUNT }")},
      {ACCEPT, Profile("label: '//x:good' benchmarks { name: 'B' metrics { "
                       "kind: ALLOCATION_COUNT value: 1 } }")}};
  std::string rules;
  for (const char* name : {"big", "dead", "shaky", "good"}) {
    absl::StrAppend(&rules, "threshold { selector { label: '//x:", name,
                    "' } metric: ALLOCATION_COUNT max_count: 1 } exemption { "
                    "selector { label: '//x:",
                    name, "' } reason: 'a test' }");
  }
  const std::vector<ThresholdSource> sources = {
      Source("shared: true " + rules),
      Source("shared: true environment { compiler: 'x' } threshold { selector "
             "{ label: '//x:elsewhere' } metric: "
             "ALLOCATION_COUNT exact_count: 1 }")};
  for (unsigned subset = 1; subset < 64; ++subset) {
    std::vector<MemoryProfile> profiles;
    Decision expected = ACCEPT;
    for (size_t i = kinds.size(); i-- > 0;) {
      if ((subset >> i & 1) == 0) continue;
      profiles.push_back(kinds[i].second);
      expected = kinds[i].first;
    }
    // A gate names only files that have thresholds for it.
    constexpr unsigned kElsewhere = 1 << 3;
    std::vector<ThresholdSource> named;
    if ((subset & 0b110110) != 0) named.push_back(sources[0]);
    if ((subset & kElsewhere) != 0) named.push_back(sources[1]);
    EXPECT_EQ(Judge(profiles, named, false).decision(), expected) << subset;
  }
}

// Each of these rules alone would accept a program that needs a hundred times
// as much.
TEST(EvaluateTest, EachBenchmarkNeedsABlockingLimitOrAnExemption) {
  for (const char* rule :
       {"metric: PEAK_LIVE_USABLE_BYTES min_bytes: 1",
        "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 1000 severity: AUDIT",
        "metric: ALLOCATION_COUNT max_count: 7"}) {
    const Verdict verdict = Judge({Profile(kProfile)}, {Source(Rule(rule))});
    EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION) << rule;
    EXPECT_THAT(OnlyProblem(verdict),
                HasSubstr("no rule that blocks limits the peak of benchmark "
                          "\"BM_Load/rows:10\""));
    EXPECT_EQ(
        Judge({Profile(kProfile)}, {Source(kExempt + Rule(rule))}).decision(),
        ACCEPT)
        << rule;
  }
  const Verdict phase =
      Judge({Profile(kProfile)},
            {Source("threshold { selector { label: '//a:b' phase: 'loop/read' "
                    "} metric: PEAK_LIVE_USABLE_BYTES max_bytes: 400 }")});
  EXPECT_EQ(phase.decision(), BAD_CONFIGURATION);
  // An exemption that names no benchmark is a mistake.
  EXPECT_THAT(
      OnlyProblem(Judge(
          {Profile(kProfile)},
          {Source(PeakRule("max_bytes: 1000") +
                  "exemption { selector { label: '//a:b' benchmark: 'BM_Gone' "
                  "} reason: 'a test' }")})),
      HasSubstr("t.textproto:1000: exempts nothing: //a:b BM_Gone"));
}

TEST(EvaluateTest, ABenchmarkThatVanishesUnderAStarIsNamed) {
  const auto judge = [](const char* count) {
    return Judge(
        {TwoBenchmarks()},
        {Source(PeakRule(absl::StrCat("max_bytes: 1000000 ", count)))});
  };
  EXPECT_EQ(judge("").decision(), ACCEPT);
  EXPECT_EQ(judge("benchmark_count: 2").decision(), ACCEPT);
  EXPECT_THAT(OnlyProblem(judge("benchmark_count: 3")),
              HasSubstr("its benchmark_count was 3, and is 2 now: a benchmark, "
                        "a size or a deployment is gone"));
  EXPECT_THAT(OnlyProblem(judge("benchmark_count: 1")),
              HasSubstr("was 1, and is 2 now; write benchmark_count: 2"));
}

// A weaker rule for this environment does not stand in for an exact value of
// another.
TEST(EvaluateTest, ARuleThatDoesNotBlockHidesNoExactValueOfElsewhere) {
  const auto judge = [](const std::string& own) {
    return Judge(
        {Profile(kProfile)},
        {Source("environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc "
                "12.2.0' } " +
                    PeakRule(own),
                "own.t"),
         Source("environment { allocator: 'jemalloc 5.3.0' compiler: 'gcc "
                "13.1.0' } " +
                    PeakRule("exact_bytes: 9"),
                "other.t"),
         Source(kExempt)});
  };
  EXPECT_EQ(judge("exact_bytes: 1000").decision(), ACCEPT);
  EXPECT_EQ(judge("max_bytes: 2000").decision(), ACCEPT);
  EXPECT_EQ(judge("max_bytes: 2000 severity: AUDIT").decision(),
            ENVIRONMENT_MISMATCH);
  EXPECT_EQ(judge("min_bytes: 1").decision(), ENVIRONMENT_MISMATCH);
}

}  // namespace
}  // namespace footprint

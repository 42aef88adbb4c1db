#include "footprint/gates/evaluate.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

MemoryProfile Profile(const std::string& text) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &profile))
      << text;
  return profile;
}

// A threshold file without regard to what parse_threshold_file refuses.
ThresholdSource Source(const std::string& text,
                       const std::string& path = "t.textproto") {
  ThresholdSource source;
  source.path = path;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &source.file))
      << text;
  for (int i = 0; i < source.file.threshold_size(); ++i) {
    source.lines.push_back(10 * (i + 1));
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

// "location: message" of the only problem.
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

// One threshold for the benchmark of kProfile.
std::string Rule(const std::string& fields) {
  return absl::StrCat("threshold { selector { label: '//a:b' } ", fields, " }");
}

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
  // Less than before needs no reason.
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
              {Source(Rule(absl::StrCat("metric: ALLOCATION_COUNT ", fields)))})
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

TEST(EvaluateTest, RatioLimitsAreWhatADecimalReaderExpects) {
  EXPECT_EQ(RatioLimit(0.3, 10), 3);
  EXPECT_EQ(RatioLimit(1.1, 10), 11);
  EXPECT_EQ(RatioLimit(0.57, 100), 57);
  EXPECT_EQ(RatioLimit(0.5, 3), 1);
  EXPECT_EQ(RatioLimit(2, int64_t{1} << 61), int64_t{1} << 62);
  EXPECT_EQ(RatioLimit(1e300, 1), std::numeric_limits<int64_t>::max());
  // Against integers: the ratio in thousandths.
  std::mt19937_64 random(11);
  for (int round = 0; round < 100000; ++round) {
    const int64_t thousandths = 1 + static_cast<int64_t>(random() % 5000);
    const int64_t baseline = 1 + static_cast<int64_t>(random() % 1000000000);
    EXPECT_EQ(RatioLimit(static_cast<double>(thousandths) / 1000, baseline),
              thousandths * baseline / 1000)
        << thousandths << " " << baseline;
  }
}

TEST(EvaluateTest, OnlyBlockingRulesReject) {
  for (const char* severity : {"WARN", "AUDIT"}) {
    const Verdict verdict = Judge(
        {Profile(kProfile)},
        {Source(PeakRule(absl::StrCat("max_bytes: 1 severity: ", severity)))});
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
    return Judge({Profile(kProfile)},
                 {Source(absl::StrCat(
                     "threshold { selector { label: '//a:b' phase: '", phase,
                     "' } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 400 }"))});
  };
  const Verdict verdict = judge("loop/read");
  EXPECT_EQ(verdict.decision(), ACCEPT);
  EXPECT_EQ(verdict.judgements(0).phase(), "loop/read");
  EXPECT_EQ(verdict.judgements(0).measured(), 400);
  EXPECT_THAT(OnlyProblem(judge("loop/raed")),
              HasSubstr("there is no phase \"loop/raed\"; did you mean "
                        "\"loop/read\"?"));
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
              HasSubstr("peak_live_requested_bytes is not in the profile; did "
                        "you mean \"peak_live_usable_bytes\"?"));
  EXPECT_THAT(problem("label: '//a:c'", "PEAK_LIVE_USABLE_BYTES"),
              HasSubstr("no profile of this gate has the label //a:c; did you "
                        "mean \"//a:b\"?"));
}

TEST(EvaluateTest, ASingleProfileMayBeJudgedByAFileOfMany) {
  const std::string text =
      PeakRule("max_bytes: 1000") +
      "threshold { selector { label: '//a:other' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_bytes: 1 }";
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(text)}, false).decision(),
            ACCEPT);
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(text)}, true).decision(),
            BAD_CONFIGURATION);
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
  EXPECT_EQ(verdict.decision(), BAD_CONFIGURATION);
  EXPECT_THAT(OnlyProblem(verdict),
              AllOf(HasSubstr("two.textproto:10: is a second rule of the same "
                              "sort for peak_live_usable_bytes of //a:b "
                              "BM_Load/rows:10"),
                    HasSubstr("the other is at one.textproto:10")));
  // Rules of different sorts get along.
  EXPECT_EQ(Judge({Profile(kProfile)}, {Source(PeakRule("max_bytes: 1000")),
                                        Source(PeakRule("exact_bytes: 1000"))})
                .decision(),
            ACCEPT);
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
        {Source(Rule(absl::StrCat(
            "metric: PEAK_MAPPED_BYTES max_bytes: 1 severity: ", severity)))});
  };
  EXPECT_EQ(judge("BLOCK").decision(), INCONCLUSIVE);
  EXPECT_THAT(OnlyProblem(judge("BLOCK")),
              HasSubstr("was not the same in every process"));
  // Shown all the same.
  EXPECT_EQ(judge("WARN").decision(), ACCEPT);
  EXPECT_THAT(judge("WARN").problems(), SizeIs(1));
}

TEST(EvaluateTest, ABenchmarkThatForkedIsInconclusiveOnce) {
  MemoryProfile profile = Profile(kProfile);
  profile.mutable_benchmarks(0)->set_forked_process_count(2);
  const auto judge = [&](const std::string& fields) {
    return Judge({profile},
                 {Source(PeakRule(fields) +
                         Rule("metric: ALLOCATION_COUNT severity: AUDIT "
                              "max_count: 7"))});
  };
  EXPECT_EQ(judge("max_bytes: 1000 min_bytes: 1").decision(), INCONCLUSIVE);
  EXPECT_THAT(OnlyProblem(judge("max_bytes: 1000 min_bytes: 1")),
              HasSubstr("started 2 child processes"));
  EXPECT_EQ(judge("max_bytes: 1000 severity: WARN").decision(), ACCEPT);
  // Too much without the children is too much.
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
  // With a file of its own, the other one does not matter.
  const Verdict accepted = Judge(
      {Profile(kProfile)}, {Source(there + PeakRule("exact_bytes: 1")),
                            Source(here + PeakRule("exact_bytes: 1000"))});
  EXPECT_EQ(accepted.decision(), ACCEPT);
  EXPECT_THAT(accepted.judgements(), SizeIs(1));
  // Limits for everywhere still reject.
  EXPECT_EQ(
      Judge({Profile(kProfile)}, {Source(there + PeakRule("exact_bytes: 1")),
                                  Source(PeakRule("max_bytes: 999"))})
          .decision(),
      REJECT);
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
  // One profile for each decision; every subset of them.
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
                    "' } metric: ALLOCATION_COUNT max_count: 1 }");
  }
  const std::vector<ThresholdSource> sources = {
      Source(rules),
      Source("environment { compiler: 'x' } threshold { selector "
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
    EXPECT_EQ(Judge(profiles, sources, false).decision(), expected) << subset;
  }
}

// ---- Against an oracle that knows nothing of indexes ----

bool OracleGlob(const std::string& glob, const std::string& text, size_t g = 0,
                size_t t = 0) {
  if (g == glob.size()) return t == text.size();
  if (glob[g] == '*') {
    for (size_t end = t; end <= text.size(); ++end) {
      if (OracleGlob(glob, text, g + 1, end)) return true;
    }
    return false;
  }
  return t < text.size() && glob[g] == text[t] &&
         OracleGlob(glob, text, g + 1, t + 1);
}

// label, benchmark, phase, metric, rule, limit, decision, location.
using Row = std::tuple<std::string, std::string, std::string, int, int, int64_t,
                       int, std::string>;

struct OracleVerdict {
  std::vector<Row> rows;
  std::multiset<int> problems;  // decisions
  int decision = ACCEPT;
};

// Straight from the definitions, quadratic, one metric after the other.
class Oracle {
 public:
  static OracleVerdict Run(const std::vector<MemoryProfile>& profiles,
                           const std::vector<ThresholdSource>& sources) {
    Oracle oracle;
    for (const MemoryProfile& profile : profiles) {
      if (profile.has_failure()) {
        oracle.verdict_.problems.insert(PRODUCER_FAILED);
        continue;
      }
      for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
        oracle.JudgeBenchmark(profile, benchmark, sources);
      }
    }
    oracle.FindUnmatched(profiles, sources);
    oracle.FindConflicts();
    oracle.Decide();
    return oracle.verdict_;
  }

 private:
  static bool Fits(const Selector& selector, const MemoryProfile& profile,
                   const BenchmarkMemory& benchmark) {
    if (!OracleGlob(selector.label(), profile.label())) return false;
    if (!selector.benchmark().empty() &&
        !OracleGlob(selector.benchmark(), benchmark.name())) {
      return false;
    }
    for (const Argument& wanted : selector.arguments()) {
      if (std::none_of(benchmark.arguments().begin(),
                       benchmark.arguments().end(),
                       [&](const Argument& argument) {
                         return argument.name() == wanted.name() &&
                                argument.value() == wanted.value();
                       })) {
        return false;
      }
    }
    return true;
  }

  void JudgeBenchmark(const MemoryProfile& profile,
                      const BenchmarkMemory& benchmark,
                      const std::vector<ThresholdSource>& sources) {
    bool is_named = false;
    bool is_blocked = false;
    for (const ThresholdSource& source : sources) {
      for (int i = 0; i < source.file.threshold_size(); ++i) {
        const Threshold& threshold = source.file.threshold(i);
        if (!Fits(threshold.selector(), profile, benchmark)) continue;
        is_named = true;
        for (int phase = -1; phase < benchmark.phases_size(); ++phase) {
          const std::string name =
              phase < 0 ? "" : benchmark.phases(phase).name();
          const std::string& wanted = threshold.selector().phase();
          if (phase < 0 ? !wanted.empty()
                        : wanted.empty() || !OracleGlob(wanted, name)) {
            continue;
          }
          const auto& metrics = phase < 0 ? benchmark.metrics()
                                          : benchmark.phases(phase).metrics();
          for (const Metric& metric : metrics) {
            if (metric.kind() != threshold.metric()) continue;
            is_blocked |= threshold.severity() <= BLOCK;
            Hold(threshold, metric.value(), source.LocationOf(i),
                 {profile.label(), benchmark.name(), name});
          }
          const auto& unrepeated = phase < 0
                                       ? benchmark.unrepeated()
                                       : benchmark.phases(phase).unrepeated();
          for (int kind : unrepeated) {
            if (kind != threshold.metric()) continue;
            is_blocked |= threshold.severity() <= BLOCK;
            verdict_.problems.insert(
                threshold.severity() <= BLOCK ? INCONCLUSIVE : ACCEPT);
          }
        }
      }
    }
    if (!is_named) verdict_.problems.insert(BAD_CONFIGURATION);
    if (is_blocked && benchmark.forked_process_count() > 0) {
      verdict_.problems.insert(INCONCLUSIVE);
    }
  }

  void Hold(const Threshold& threshold, int64_t value,
            const std::string& location, const std::vector<std::string>& name) {
    const auto add = [&](int rule, int64_t limit, bool is_good) {
      verdict_.rows.emplace_back(name[0], name[1], name[2], threshold.metric(),
                                 rule, limit, is_good ? ACCEPT : REJECT,
                                 location);
      if (!is_good && threshold.severity() <= BLOCK) is_rejected_ = true;
    };
    if (threshold.has_max_bytes()) {
      add(MAXIMUM, threshold.max_bytes(), !(value > threshold.max_bytes()));
    }
    if (threshold.has_max_count()) {
      add(MAXIMUM, threshold.max_count(), !(value > threshold.max_count()));
    }
    if (threshold.has_exact_bytes()) {
      add(EXACT_VALUE, threshold.exact_bytes(),
          threshold.exact_bytes() == value);
    }
    if (threshold.has_exact_count()) {
      add(EXACT_VALUE, threshold.exact_count(),
          threshold.exact_count() == value);
    }
    if (threshold.has_min_bytes()) {
      add(MINIMUM, threshold.min_bytes(), !(value < threshold.min_bytes()));
    }
    if (threshold.has_min_count()) {
      add(MINIMUM, threshold.min_count(), !(value < threshold.min_count()));
    }
  }

  void FindUnmatched(const std::vector<MemoryProfile>& profiles,
                     const std::vector<ThresholdSource>& sources) {
    for (const ThresholdSource& source : sources) {
      for (const Threshold& threshold : source.file.threshold()) {
        bool is_excused = false;
        bool has_metric = false;
        for (const MemoryProfile& profile : profiles) {
          is_excused |=
              OracleGlob(threshold.selector().label(), profile.label()) &&
              profile.has_failure();
          for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
            if (!Fits(threshold.selector(), profile, benchmark)) continue;
            has_metric |= Names(threshold, benchmark);
          }
        }
        if (!is_excused && !has_metric) {
          verdict_.problems.insert(BAD_CONFIGURATION);
        }
      }
    }
  }

  static bool Names(const Threshold& threshold,
                    const BenchmarkMemory& benchmark) {
    std::vector<int> kinds;
    const auto add = [&](const auto& measured) {
      for (const Metric& metric : measured.metrics()) {
        kinds.push_back(metric.kind());
      }
      for (int kind : measured.unrepeated()) kinds.push_back(kind);
    };
    if (threshold.selector().phase().empty()) add(benchmark);
    for (const Phase& phase : benchmark.phases()) {
      if (!threshold.selector().phase().empty() &&
          OracleGlob(threshold.selector().phase(), phase.name())) {
        add(phase);
      }
    }
    return std::count(kinds.begin(), kinds.end(), threshold.metric()) > 0;
  }

  void FindConflicts() {
    std::map<std::tuple<std::string, std::string, std::string, int, int>, int>
        count;
    for (const Row& row : verdict_.rows) {
      if (++count[{std::get<0>(row), std::get<1>(row), std::get<2>(row),
                   std::get<3>(row), std::get<4>(row)}] > 1) {
        verdict_.problems.insert(BAD_CONFIGURATION);
      }
    }
  }

  void Decide() {
    const auto has = [this](int decision) {
      return verdict_.problems.count(decision) > 0;
    };
    verdict_.decision = has(BAD_CONFIGURATION) ? BAD_CONFIGURATION
                        : is_rejected_         ? REJECT
                        : has(PRODUCER_FAILED) ? PRODUCER_FAILED
                        : has(INCONCLUSIVE)    ? INCONCLUSIVE
                                               : ACCEPT;
    std::sort(verdict_.rows.begin(), verdict_.rows.end());
  }

  OracleVerdict verdict_;
  bool is_rejected_ = false;
};

class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : random_(seed) {}

  std::vector<MemoryProfile> Profiles() {
    std::vector<MemoryProfile> profiles;
    for (const char* label : {"//a:a", "//a:b", "//b:a"}) {
      if (Below(4) == 0) continue;
      MemoryProfile profile;
      profile.set_label(label);
      if (Below(8) == 0) {
        profile.mutable_failure()->set_kind(ProducerFailure::EXITED);
      } else {
        for (const char* name : {"BM_A/x:1", "BM_A/x:2", "BM_B"}) {
          if (Below(3) > 0) AddBenchmark(name, &profile);
        }
        if (profile.benchmarks_size() == 0) AddBenchmark("BM_B", &profile);
      }
      profiles.push_back(profile);
    }
    if (profiles.empty()) {
      profiles.emplace_back();
      profiles[0].set_label("//a:a");
      AddBenchmark("BM_B", &profiles[0]);
    }
    return profiles;
  }

  std::vector<ThresholdSource> Sources() {
    std::vector<ThresholdSource> sources(1 + Below(2));
    int file = 0;
    for (ThresholdSource& source : sources) {
      source.path = absl::StrCat("file", ++file);
      for (int i = 0, count = 1 + Below(4); i < count; ++i) {
        FillThreshold(source.file.add_threshold());
        source.lines.push_back(i + 1);
      }
    }
    return sources;
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % bound); }
  const char* Pick(const std::vector<const char*>& of) {
    return of[static_cast<size_t>(Below(static_cast<int>(of.size())))];
  }

  template <typename Measured>
  void AddMetrics(Measured* measured) {
    for (MetricKind kind : {PEAK_LIVE_USABLE_BYTES, ALLOCATION_COUNT}) {
      if (Below(10) == 0) {
        measured->add_unrepeated(kind);
      } else if (Below(10) > 0) {
        Metric* metric = measured->add_metrics();
        metric->set_kind(kind);
        metric->set_value(Below(4));
      }
    }
  }

  void AddBenchmark(const std::string& name, MemoryProfile* profile) {
    BenchmarkMemory* benchmark = profile->add_benchmarks();
    benchmark->set_name(name);
    if (name.back() != 'B') {
      Argument* argument = benchmark->add_arguments();
      argument->set_name("x");
      argument->set_value(name.substr(name.size() - 1));
    }
    AddMetrics(benchmark);
    for (const char* phase : {"load", "fit"}) {
      if (Below(2) == 0) continue;
      benchmark->add_phases()->set_name(phase);
      AddMetrics(benchmark->mutable_phases(benchmark->phases_size() - 1));
    }
    if (Below(12) == 0) benchmark->set_forked_process_count(1);
  }

  void FillThreshold(Threshold* threshold) {
    Selector* selector = threshold->mutable_selector();
    selector->set_label(
        Pick({"//a:a", "//a:b", "//b:a", "//a:*", "*", "*:a", "//*"}));
    selector->set_benchmark(
        Pick({"", "", "*", "BM_A*", "BM_A/x:1", "BM_B", "*1"}));
    selector->set_phase(Pick({"", "", "", "load", "fit", "*", "*t"}));
    if (Below(6) == 0) {
      selector->add_arguments()->set_name("x");
      selector->mutable_arguments(0)->set_value(Pick({"1", "2"}));
    }
    threshold->set_severity(
        static_cast<Severity>(Below(3) == 0 ? Below(4) : 0));
    const bool is_count = Below(2) == 0;
    threshold->set_metric(is_count ? ALLOCATION_COUNT : PEAK_LIVE_USABLE_BYTES);
    const int value = Below(5);
    const int sort = Below(4);
    if (sort == 0) {
      is_count ? threshold->set_exact_count(value)
               : threshold->set_exact_bytes(value);
      return;
    }
    if (sort != 1) {
      is_count ? threshold->set_max_count(value)
               : threshold->set_max_bytes(value);
    }
    if (sort != 2) {
      is_count ? threshold->set_min_count(value / 2)
               : threshold->set_min_bytes(value / 2);
    }
  }

  std::mt19937 random_;
};

TEST(EvaluatePropertyTest, AgreesWithTheOracle) {
  std::map<int, int> seen;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    RandomCase random(seed);
    const std::vector<MemoryProfile> profiles = random.Profiles();
    const std::vector<ThresholdSource> sources = random.Sources();
    const OracleVerdict expected = Oracle::Run(profiles, sources);
    const Verdict verdict = Judge(profiles, sources);
    std::vector<Row> rows;
    for (const Judgement& judgement : verdict.judgements()) {
      rows.emplace_back(judgement.label(), judgement.benchmark(),
                        judgement.phase(), judgement.metric(), judgement.rule(),
                        judgement.limit(), judgement.decision(),
                        judgement.threshold_location());
    }
    std::sort(rows.begin(), rows.end());
    std::multiset<int> problems;
    for (const Problem& problem : verdict.problems()) {
      problems.insert(problem.decision());
    }
    ASSERT_EQ(rows, expected.rows) << seed;
    ASSERT_EQ(problems, expected.problems) << seed << verdict.DebugString();
    ASSERT_EQ(verdict.decision(), expected.decision) << seed;
    ++seen[verdict.decision()];
  }
  // The cases are worth something only if every decision occurs.
  for (Decision decision :
       {ACCEPT, REJECT, BAD_CONFIGURATION, PRODUCER_FAILED, INCONCLUSIVE}) {
    EXPECT_GT(seen[decision], 10) << Decision_Name(decision);
  }
}

}  // namespace
}  // namespace footprint

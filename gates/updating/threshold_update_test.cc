#include "footprint/gates/updating/threshold_update.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/updating/threshold_edit.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kHeader[] =
    "# proto-file: gates/judge/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\nschema_version: 1\n";
constexpr char kEnvironment[] = "environment { compiler: 'gcc' }\n";

MemoryProfile Profile(int64_t peak, int64_t other_peak = 0) {
  MemoryProfile profile;
  profile.set_label("//a:b");
  profile.set_process_count(3);
  profile.mutable_environment()->set_compiler("gcc");
  for (const auto& [name, value] :
       {std::pair("BM_X", peak), {"BM_Y", other_peak}}) {
    if (value == 0) continue;
    profile.add_benchmarks()->set_name(name);
    Metric* metric = profile.mutable_benchmarks(profile.benchmarks_size() - 1)
                         ->add_metrics();
    metric->set_kind(PEAK_LIVE_USABLE_BYTES);
    metric->set_determinism(EXACT);
    metric->set_value(value);
  }
  return profile;
}

std::string Rule(const std::string& fields) {
  return absl::StrCat(
      "threshold { selector { label: '//a:b' } metric: PEAK_LIVE_USABLE_BYTES ",
      fields, " }\n");
}

struct Result {
  UpdatePlan plan;
  ThresholdSource source;  // after the update
};

Result Update(const MemoryProfile& profile, const std::string& body,
              UpdateOptions options = UpdateOptions()) {
  options.date = "2026-11-21";
  const std::string text = kHeader + body;
  const std::vector<ThresholdSource> sources = {ParseThresholdFile("t", text)};
  EXPECT_THAT(sources[0].problems, IsEmpty()) << body;
  Result result;
  result.plan = PlanUpdate({profile}, sources, options);
  const absl::StatusOr<std::string> edited =
      EditThresholds("t", text, result.plan.changes[0]);
  EXPECT_THAT(edited, IsOk());
  if (edited.ok()) result.source = ParseThresholdFile("t", *edited);
  return result;
}

UpdateOptions Increase() {
  UpdateOptions options;
  options.allow_increase = true;
  options.reason = "a cache";
  return options;
}

constexpr char kExactHeadroom[] = "headroom { exact: true }\n";

TEST(ThresholdUpdateTest, LowersFreely) {
  EXPECT_EQ(Update(Profile(80), kExactHeadroom + Rule("max_bytes: 100"))
                .source.file.threshold(0)
                .max_bytes(),
            80);
  const Result exact =
      Update(Profile(80), kEnvironment + Rule("exact_bytes: 100"));
  EXPECT_EQ(exact.source.file.threshold(0).exact_bytes(), 80);
  ASSERT_THAT(exact.source.file.threshold(0).history(), SizeIs(1));
  const HistoryEntry& entry = exact.source.file.threshold(0).history(0);
  EXPECT_EQ(entry.date(), "2026-11-21");
  EXPECT_EQ(entry.old_value(), 100);
  EXPECT_EQ(entry.new_value(), 80);
  EXPECT_EQ(entry.reason(), "measured less");
  EXPECT_THAT(exact.plan.descriptions,
              ElementsAre("t:5: //a:b * peak live: limit 100 B -> 80 B"));
  // The limit falls to the largest of several values.
  EXPECT_EQ(Update(Profile(80, 90), kExactHeadroom + Rule("max_bytes: 100"))
                .source.file.threshold(0)
                .max_bytes(),
            90);
}

// Returns the threshold after the update.
Threshold After(const std::string& rule, int64_t measured,
                UpdateOptions options = UpdateOptions()) {
  const Result result = Update(Profile(measured), rule, std::move(options));
  return result.source.file.threshold_size() == 0
             ? Threshold()
             : result.source.file.threshold(0);
}

TEST(ThresholdUpdateTest, WritesALimitAsItWasWritten) {
  EXPECT_EQ(After(Rule("max: '24 MB'"), 25123456, Increase()).max(), "25.2 MB");
  EXPECT_EQ(After(kExactHeadroom + Rule("max: '24 MB'"), 1500000).max(),
            "1.5 MB");
  // Rounded up, the new value is the old one.
  EXPECT_THAT(Update(Profile(23999999), kExactHeadroom + Rule("max: '24 MB'"))
                  .plan.descriptions,
              IsEmpty());
  EXPECT_THAT(Update(Profile(25123456), Rule("max: '24 MB'")).plan.refusals,
              ElementsAre(HasSubstr("is an increase")));
  const Threshold band =
      After(Rule("max: '24 MB' min: '22 MB'"), 31234567, Increase());
  EXPECT_EQ(band.max(), "32.3 MB");
  EXPECT_EQ(band.min(), "30.2 MB");
}

TEST(ThresholdUpdateTest, ADistanceStays) {
  const std::string rule = Rule("max: '20 MB + 10 %'");
  // The maximum holds, and its distance to the measured value is not above 10
  // %.
  EXPECT_THAT(Update(Profile(21000000), rule).plan.descriptions, IsEmpty());
  const Threshold lower = After(rule, 10111111);
  EXPECT_EQ(lower.max(), "10.2 MB + 10 %");
  EXPECT_EQ(lower.max_bytes(), 11220000);
  ASSERT_THAT(lower.history(), SizeIs(1));
  EXPECT_EQ(lower.history(0).old_value(), 22000000);
  EXPECT_EQ(lower.history(0).new_value(), 11220000);
  EXPECT_THAT(Update(Profile(30000000), rule).plan.refusals,
              ElementsAre(HasSubstr("is an increase")));
  EXPECT_EQ(After(rule, 30000000, Increase()).max(), "30 MB + 10 %");
  // The limit's own distance has priority over the file's headroom.
  EXPECT_EQ(After(kExactHeadroom + rule, 10000000).max(), "10 MB + 10 %");
}

TEST(ThresholdUpdateTest, ADefaultIsNotMovedByItsExceptions) {
  const std::string rules =
      Rule("max_bytes: 100") +
      "threshold { selector { label: '//a:b' benchmark: 'BM_Y' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_bytes: 500 }\n";
  const Result raised = Update(Profile(80, 700), rules, Increase());
  EXPECT_EQ(raised.source.file.threshold(0).max_bytes(), 100);
  EXPECT_EQ(raised.source.file.threshold(1).max_bytes(), 700);
  const Result lowered = Update(Profile(80, 300), kExactHeadroom + rules);
  EXPECT_EQ(lowered.source.file.threshold(0).max_bytes(), 80);
  EXPECT_EQ(lowered.source.file.threshold(1).max_bytes(), 300);
  // A benchmark whose exception only warns needs a limit.
  const std::vector<ThresholdSource> sources = {ParseThresholdFile(
      "t",
      Rule("max_bytes: 100") +
          "threshold { selector { label: '//a:b' benchmark: 'BM_Y' } "
          "metric: PEAK_LIVE_USABLE_BYTES max_bytes: 500 severity: WARN }")};
  EXPECT_THAT(ThresholdsForNewBenchmarks({Profile(80, 300)}, sources,
                                         UpdateOptions(), ThresholdFile())
                  .thresholds,
              SizeIs(1));
}

TEST(ThresholdUpdateTest, WritesTheFigureThatIsAwaited) {
  const Threshold first = After(Rule("max: '+ 10 %'"), 21712345);
  EXPECT_EQ(first.max(), "21.8 MB + 10 %");
  ASSERT_THAT(first.history(), SizeIs(1));
  EXPECT_FALSE(first.history(0).has_old_value());
  EXPECT_EQ(first.history(0).new_value(), 23980000);
  EXPECT_EQ(first.history(0).reason(), "first measured");
  EXPECT_EQ(After("recorded: true\n" + Rule("max: '+ 1 kB'"), 7).max(),
            "7 B + 1 kB");
  // The last figure in the history counts, so removing the figure does not
  // allow a raise.
  const std::string raised = Rule(
      "max: '+ 10 %' history { date: '2026-01-01' new_value: 100 reason: 'x' "
      "}");
  EXPECT_THAT(Update(Profile(1000), raised).plan.refusals,
              ElementsAre(HasSubstr("limit 100 B -> 1.07 KiB")));
  EXPECT_EQ(After(raised, 1000, Increase()).history(1).old_value(), 100);
}

// Returns the maximum that replaces `maximum`.
int64_t MaximumAfter(int64_t maximum, const std::string& headroom,
                     UpdateOptions options = UpdateOptions(),
                     int64_t measured = 2000) {
  return Update(Profile(measured),
                headroom + Rule(absl::StrCat("max_bytes: ", maximum)), options)
      .source.file.threshold(0)
      .max_bytes();
}

TEST(ThresholdUpdateTest, KeepsDeliberateHeadroom) {
  EXPECT_EQ(MaximumAfter(5000, ""), 5000);
  EXPECT_EQ(MaximumAfter(5000, kExactHeadroom), 2000);
  EXPECT_EQ(MaximumAfter(5000, "headroom { percent: 12.5 }\n"), 2250);
  EXPECT_EQ(MaximumAfter(5000, "headroom { percent: 0.01 }\n"), 2001);
  EXPECT_EQ(MaximumAfter(5000, "headroom { bytes: 96 }\n"), 2096);
  // A maximum that is closer already stays, and one that holds is not raised.
  EXPECT_EQ(MaximumAfter(2050, "headroom { bytes: 96 }\n", Increase()), 2050);
  EXPECT_EQ(MaximumAfter(2000, "headroom { percent: 50 }\n", Increase()), 2000);
  // A maximum that does not hold rises to the value plus its headroom.
  EXPECT_EQ(MaximumAfter(1999, "headroom { bytes: 96 }\n", Increase()), 2096);
  EXPECT_EQ(MaximumAfter(1999, "headroom { percent: 10 }\n", Increase()), 2200);
  EXPECT_EQ(MaximumAfter(1999, "", Increase()), 2000);
  EXPECT_EQ(MaximumAfter(1999, "headroom { bytes: 9223372036854775807 }\n",
                         Increase()),
            INT64_MAX - 1);
  EXPECT_EQ(MaximumAfter(1999, "headroom { percent: 1e300 }\n", Increase()),
            9000000000000002000);
  // The command's headroom has priority over the file's.
  UpdateOptions options;
  options.headroom = *ParseHeadroom("exact");
  EXPECT_EQ(MaximumAfter(5000, "", options), 2000);
  options.headroom = *ParseHeadroom("10%");
  EXPECT_EQ(MaximumAfter(5000, kExactHeadroom, options), 2200);
}

TEST(ThresholdUpdateTest, HeadroomInBytesIsNoneOfCounts) {
  MemoryProfile profile = Profile(7);
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_kind(ALLOCATION_COUNT);
  const std::string rule =
      "threshold { selector { label: '//a:b' } metric: ALLOCATION_COUNT "
      "max_count: 9 }";
  EXPECT_THAT(Update(profile, "headroom { bytes: 1 }\n" + rule).plan.changes[0],
              IsEmpty());
  EXPECT_EQ(Update(profile, "headroom { percent: 1 }\n" + rule)
                .source.file.threshold(0)
                .max_count(),
            8);
}

TEST(ThresholdUpdateTest, ReadsAHeadroom) {
  EXPECT_TRUE(ParseHeadroom("exact")->exact());
  EXPECT_EQ(ParseHeadroom("2.5%")->percent(), 2.5);
  EXPECT_EQ(ParseHeadroom("4096")->bytes(), 4096);
  for (const char* bad :
       {"", "none", "-1", "-1%", "%", "nan%", "inf%", "1.5", "4k"}) {
    EXPECT_THAT(ParseHeadroom(bad), Not(IsOk())) << bad;
  }
}

// A measurement that `check` calls inconclusive changes no limit.
TEST(ThresholdUpdateTest, LeavesWhatDoesNotCount) {
  const std::string rules[] = {kExactHeadroom + Rule("max_bytes: 100"),
                               kEnvironment + Rule("exact_bytes: 100"),
                               Rule("min_bytes: 100"),
                               kExactHeadroom + Rule("max_bytes: 70")};
  const auto expect_left = [&](const MemoryProfile& profile,
                               const std::string& why) {
    for (const std::string& rule : rules) {
      const Result result = Update(profile, rule, Increase());
      EXPECT_THAT(result.plan.changes[0], IsEmpty()) << rule;
      ASSERT_THAT(result.plan.refusals, SizeIs(1)) << rule;
      EXPECT_THAT(result.plan.refusals[0], HasSubstr(why));
    }
  };
  MemoryProfile profile = Profile(80, 80);
  profile.set_process_count(1);
  expect_left(profile, "measured in 1 processes");
  profile = Profile(80, 80);
  profile.mutable_benchmarks(1)->set_forked_process_count(1);
  expect_left(profile, "BM_Y started child processes");
  profile = Profile(80, 80);
  profile.mutable_benchmarks(1)->clear_metrics();
  expect_left(profile, "BM_Y lacks what the threshold judges");
  profile.mutable_benchmarks(1)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  expect_left(profile, "BM_Y was not the same in every process");
  profile.mutable_benchmarks(0)->clear_metrics();
  profile.mutable_benchmarks(0)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  expect_left(profile, "BM_X was not the same in every process");
  // The verdict gives the same reason.
  profile = Profile(80, 80);
  profile.mutable_benchmarks(1)->clear_metrics();
  profile.mutable_benchmarks(1)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  profile.mutable_benchmarks(1)->add_order_dependent(PEAK_LIVE_USABLE_BYTES);
  expect_left(profile, "BM_Y was made by threads that may overlap");
}

TEST(ThresholdUpdateTest, AProducerThatFailedMovesNoLimit) {
  MemoryProfile failed;
  failed.set_label("//a:c");
  failed.mutable_failure()->set_kind(ProducerFailure::TIMED_OUT);
  const std::string text =
      absl::StrCat(kHeader, kExactHeadroom,
                   "threshold { selector { label: '//a:*' } metric: "
                   "PEAK_LIVE_USABLE_BYTES max_bytes: 100 }");
  const UpdatePlan plan = PlanUpdate(
      {Profile(80), failed}, {ParseThresholdFile("t", text)}, UpdateOptions());
  EXPECT_THAT(plan.changes[0], IsEmpty());
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0], HasSubstr("//a:c gave no measurement"));
}

// The profile does not have the name of a failed benchmark, so rules that may
// name it stay.
TEST(ThresholdUpdateTest, ARuleThatMayNameAFailedBenchmarkStays) {
  MemoryProfile profile = Profile(1000);
  profile.mutable_failure()->set_kind(ProducerFailure::BENCHMARKS_FAILED);
  const auto update = [&](const std::string& selector) {
    return Update(profile,
                  absl::StrCat("headroom { percent: 10 }\n"
                               "threshold { selector { ",
                               selector,
                               " } metric: PEAK_LIVE_USABLE_BYTES max_bytes: "
                               "2000 }\n"),
                  Increase());
  };
  for (const char* may_name_it :
       {"label: '//a:*'", "label: '//a:b'", "label: '//a:b' benchmark: '*'",
        "label: '//a:b' benchmark: 'BM_X*'"}) {
    const Result result = update(may_name_it);
    EXPECT_THAT(result.plan.changes[0], IsEmpty()) << may_name_it;
    ASSERT_THAT(result.plan.refusals, SizeIs(1)) << may_name_it;
    EXPECT_THAT(result.plan.refusals[0],
                HasSubstr("//a:b has benchmarks that failed"));
  }
  for (const char* names_another : {"label: '//a:b' benchmark: 'BM_X'",
                                    "label: '//a:*' benchmark: 'BM_X'"}) {
    const Result result = update(names_another);
    EXPECT_EQ(result.source.file.threshold(0).max_bytes(), 1100)
        << names_another;
    EXPECT_THAT(result.plan.refusals, IsEmpty());
  }
}

// The translated rule may name the failed benchmark, so no rule for all
// benchmarks is made.
TEST(ThresholdUpdateTest, ANewEnvironmentLeavesOutWhatFailed) {
  MemoryProfile profile = Profile(80);
  profile.mutable_failure()->set_kind(ProducerFailure::BENCHMARKS_FAILED);
  const ThresholdSource model = ParseThresholdFile(
      "t", absl::StrCat(kHeader, "environment { compiler: 'clang' }\n",
                        Rule("exact_bytes: 1")));
  const NewThresholds added =
      ThresholdsForEnvironment({profile}, {model}, UpdateOptions());
  ASSERT_THAT(added.thresholds, SizeIs(1));
  EXPECT_EQ(added.thresholds[0].selector().benchmark(), "BM_X");
}

TEST(ThresholdUpdateTest, OnlyExactFiguresLowerALimit) {
  MemoryProfile profile = Profile(80);
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_determinism(BOUNDED);
  EXPECT_THAT(
      Update(profile, kExactHeadroom + Rule("max_bytes: 100")).plan.refusals,
      SizeIs(1));
  EXPECT_THAT(
      Update(profile, kEnvironment + Rule("exact_bytes: 70"), Increase())
          .plan.refusals,
      SizeIs(1));
  EXPECT_EQ(Update(profile, Rule("max_bytes: 70"), Increase())
                .source.file.threshold(0)
                .max_bytes(),
            80);
}

TEST(ThresholdUpdateTest, LoosensNothingForWhatIsLeftOut) {
  UpdateOptions options = Increase();
  options.benchmark = "BM_X";
  for (const std::string& rule : {Rule("max_bytes: 70"), Rule("min_bytes: 100"),
                                  Rule("max_bytes: 79 min_bytes: 70")}) {
    for (int64_t other : {80, 75}) {
      const Result result = Update(Profile(80, other), rule, options);
      EXPECT_THAT(result.plan.changes[0], IsEmpty()) << rule;
      ASSERT_THAT(result.plan.refusals, SizeIs(1)) << rule;
      EXPECT_THAT(result.plan.refusals[0],
                  HasSubstr("would loosen it for //a:b BM_Y too"));
      EXPECT_THAT(result.plan.refusals[0], HasSubstr("--only=//a:b"));
    }
  }
  options.benchmark = "BM_*";
  EXPECT_EQ(Update(Profile(80, 75), Rule("max_bytes: 70"), options)
                .source.file.threshold(0)
                .max_bytes(),
            80);
}

TEST(ThresholdUpdateTest, RaisesOnRequestAndWritesItDown) {
  const Result refused = Update(Profile(120), Rule("max_bytes: 100"));
  EXPECT_EQ(refused.source.file.threshold(0).max_bytes(), 100);
  ASSERT_THAT(refused.plan.refusals, SizeIs(1));
  EXPECT_THAT(refused.plan.refusals[0], HasSubstr("--allow_increase"));
  const Result raised =
      Update(Profile(120), Rule("max_bytes: 100"), Increase());
  const Threshold& threshold = raised.source.file.threshold(0);
  EXPECT_EQ(threshold.max_bytes(), 120);
  ASSERT_THAT(threshold.history(), SizeIs(1));
  EXPECT_EQ(threshold.history(0).date(), "2026-11-21");
  EXPECT_EQ(threshold.history(0).old_value(), 100);
  EXPECT_EQ(threshold.history(0).new_value(), 120);
  EXPECT_EQ(threshold.history(0).reason(), "a cache");
  EXPECT_THAT(raised.plan.refusals, IsEmpty());
}

TEST(ThresholdUpdateTest, ADateToComeBlocksNoUpdate) {
  const Result result = Update(
      Profile(80),
      kEnvironment + Rule("exact_bytes: 100 history { date: '2099-01-01' "
                          "new_value: 100 reason: 'a slip' }"));
  EXPECT_THAT(result.source.problems, IsEmpty());
  ASSERT_THAT(result.source.file.threshold(0).history(), SizeIs(2));
  EXPECT_EQ(result.source.file.threshold(0).history(1).date(), "2099-01-01");
  EXPECT_THAT(result.plan.descriptions,
              ElementsAre(HasSubstr("dated 2099-01-01, as the entry above")));
}

TEST(ThresholdUpdateTest, LeavesWhatIsNotSelected) {
  UpdateOptions options;
  options.benchmark = "BM_Z";
  EXPECT_THAT(
      Update(Profile(80), Rule("max_bytes: 100"), options).plan.changes[0],
      IsEmpty());
  options.benchmark = "BM_*";
  options.label = "//other:*";
  EXPECT_THAT(
      Update(Profile(80), Rule("max_bytes: 100"), options).plan.changes[0],
      IsEmpty());
  // One selected benchmark lowers a limit that it shares, but not below the
  // others' values.
  options.label = "*";
  options.benchmark = "BM_X";
  EXPECT_EQ(
      Update(Profile(80, 90), kExactHeadroom + Rule("max_bytes: 100"), options)
          .source.file.threshold(0)
          .max_bytes(),
      90);
}

TEST(ThresholdUpdateTest, LeavesFilesOfOtherEnvironments) {
  EXPECT_THAT(Update(Profile(80), "environment { compiler: 'clang' }\n" +
                                      Rule("exact_bytes: 100"))
                  .plan.changes[0],
              IsEmpty());
}

TEST(ThresholdUpdateTest, OneExactValueCannotHoldForTwo) {
  const Result result =
      Update(Profile(80, 90), kEnvironment + Rule("exact_bytes: 80"));
  EXPECT_THAT(result.plan.changes[0], IsEmpty());
  ASSERT_THAT(result.plan.refusals, SizeIs(1));
  EXPECT_THAT(result.plan.refusals[0],
              HasSubstr("//a:b BM_X 80 B and //a:b BM_Y 90 B"));
}

TEST(ThresholdUpdateTest, ABandKeepsItsWidth) {
  const std::string band = Rule("max_bytes: 110 min_bytes: 90");
  EXPECT_THAT(Update(Profile(95), band).plan.changes[0], IsEmpty());
  const Result lower = Update(Profile(50), band);
  EXPECT_EQ(lower.source.file.threshold(0).min_bytes(), 40);
  EXPECT_EQ(lower.source.file.threshold(0).max_bytes(), 60);
  ASSERT_THAT(lower.source.file.threshold(0).history(), SizeIs(1));
  EXPECT_EQ(lower.source.file.threshold(0).history(0).old_minimum(), 90);
  EXPECT_EQ(lower.source.file.threshold(0).history(0).new_minimum(), 40);
  const Result higher = Update(Profile(200), band, Increase());
  EXPECT_EQ(higher.source.file.threshold(0).min_bytes(), 190);
  EXPECT_EQ(higher.source.file.threshold(0).max_bytes(), 210);
  EXPECT_THAT(Update(Profile(200), band).plan.refusals, SizeIs(1));
  // The minimum does not fall below zero.
  EXPECT_EQ(Update(Profile(3), band).source.file.threshold(0).min_bytes(), 0);
  // The band is as wide as the values that it must hold.
  const Result wide = Update(Profile(10, 80), band);
  EXPECT_EQ(wide.source.file.threshold(0).min_bytes(), 10);
  EXPECT_EQ(wide.source.file.threshold(0).max_bytes(), 80);
}

// Only net growth can be below zero.
TEST(ThresholdUpdateTest, ABandOfNetGrowthMayBeginBelowZero) {
  const auto update = [](int64_t measured, const std::string& fields) {
    MemoryProfile profile = Profile(1);
    Metric* const metric = profile.mutable_benchmarks(0)->mutable_metrics(0);
    metric->set_kind(NET_GROWTH_USABLE_BYTES);
    metric->set_value(measured);
    return Update(profile,
                  absl::StrCat("threshold { selector { label: '//a:b' } "
                               "metric: NET_GROWTH_USABLE_BYTES ",
                               fields, " }\n"),
                  Increase());
  };
  const Result band = update(100, "max_bytes: 0 min_bytes: -1000");
  EXPECT_EQ(band.source.file.threshold(0).min_bytes(), -400);
  EXPECT_EQ(band.source.file.threshold(0).max_bytes(), 600);
  // A minimum of zero judges something.
  const Result minimum = update(0, "min_bytes: 64");
  EXPECT_THAT(minimum.plan.refusals, IsEmpty());
  EXPECT_EQ(minimum.source.file.threshold(0).min_bytes(), 0);
  // The width of this band is no int64.
  const Result wide =
      update(2000000000000000000,
             "max_bytes: 1000000000000000000 min_bytes: -9000000000000000000");
  EXPECT_LT(wide.source.file.threshold(0).min_bytes(), -2000000000000000000);
  EXPECT_GT(wide.source.file.threshold(0).max_bytes(), 6000000000000000000);
}

TEST(ThresholdUpdateTest, AMinimumOfNothingIsNoRule) {
  MemoryProfile profile = Profile(1);
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_value(0);
  const Result result = Update(profile, Rule("min_bytes: 100"));
  EXPECT_THAT(result.plan.changes[0], IsEmpty());
  ASSERT_THAT(result.plan.refusals, SizeIs(1));
  EXPECT_THAT(result.plan.refusals[0], HasSubstr("would judge nothing"));
}

TEST(ThresholdUpdateTest, AMinimumAloneOnlyFalls) {
  EXPECT_EQ(Update(Profile(80), Rule("min_bytes: 100"))
                .source.file.threshold(0)
                .min_bytes(),
            80);
  EXPECT_THAT(Update(Profile(120), Rule("min_bytes: 100")).plan.changes[0],
              IsEmpty());
}

TEST(ThresholdUpdateTest, ARatioIsLoosenedOnRequestOnly) {
  const std::string ratio =
      "threshold { selector { label: '//a:b' benchmark: 'BM_X' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 0.5 baseline { label: '//a:b' "
      "benchmark: 'BM_Y' } } }";
  EXPECT_THAT(Update(Profile(10, 300), ratio).plan.changes[0], IsEmpty());
  EXPECT_THAT(Update(Profile(200, 300), ratio).plan.refusals, SizeIs(1));
  const Result loosened = Update(Profile(200, 300), ratio, Increase());
  const Threshold& threshold = loosened.source.file.threshold(0);
  EXPECT_NEAR(threshold.max_ratio().ratio(), 0.6667, 1e-9);
  ASSERT_THAT(threshold.history(), SizeIs(1));
  EXPECT_EQ(threshold.history(0).old_ratio(), 0.5);
  EXPECT_NEAR(threshold.history(0).new_ratio(), 0.6667, 1e-9);
}

TEST(ThresholdUpdateTest, ARatioIsNotLoosenedByADoubtfulBaseline) {
  MemoryProfile profile = Profile(200, 300);
  profile.mutable_benchmarks(1)->set_forked_process_count(1);
  const std::string ratio =
      "threshold { selector { label: '//a:b' benchmark: 'BM_X' } metric: "
      "PEAK_LIVE_USABLE_BYTES max_ratio { ratio: 0.5 baseline { label: '//a:b' "
      "benchmark: 'BM_Y' } } }";
  const Result kept = Update(profile, ratio, Increase());
  EXPECT_THAT(kept.plan.changes[0], IsEmpty());
  ASSERT_THAT(kept.plan.refusals, SizeIs(1));
  EXPECT_THAT(kept.plan.refusals[0], HasSubstr("BM_Y started child processes"));
}

TEST(ThresholdUpdateTest, NewBenchmarksGetTheirPeak) {
  const std::vector<ThresholdSource> sources = {ParseThresholdFile(
      "t", absl::StrCat(kHeader,
                        "threshold { selector { label: '//a:b' benchmark: "
                        "'BM_X' } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 9 "
                        "}"))};
  MemoryProfile profile = Profile(80, 90);
  UpdateOptions options;
  options.date = "2026-11-21";
  ThresholdFile file;
  NewThresholds added =
      ThresholdsForNewBenchmarks({profile}, sources, options, file);
  EXPECT_THAT(added.refusals, IsEmpty());
  ASSERT_THAT(added.thresholds, SizeIs(1));
  EXPECT_EQ(added.thresholds[0].selector().benchmark(), "BM_Y");
  EXPECT_EQ(added.thresholds[0].max_bytes(), 90);
  ASSERT_THAT(added.thresholds[0].history(), SizeIs(1));
  EXPECT_EQ(added.thresholds[0].history(0).new_value(), 90);
  file.mutable_headroom()->set_percent(10);
  added = ThresholdsForNewBenchmarks({profile}, sources, options, file);
  EXPECT_EQ(added.thresholds[0].max_bytes(), 99);
  // With threads, the sum of their peaks is the figure that repeats.
  profile.mutable_benchmarks(1)->mutable_metrics(0)->set_kind(
      SUM_THREAD_PEAK_USABLE_BYTES);
  file.mutable_environment()->set_compiler("gcc");
  added = ThresholdsForNewBenchmarks({profile}, sources, options, file);
  ASSERT_THAT(added.thresholds, SizeIs(1));
  EXPECT_EQ(added.thresholds[0].metric(), SUM_THREAD_PEAK_USABLE_BYTES);
  EXPECT_EQ(added.thresholds[0].exact_bytes(), 90);
  profile.mutable_benchmarks(1)->mutable_metrics(0)->set_determinism(BOUNDED);
  added = ThresholdsForNewBenchmarks({profile}, sources, options, file);
  EXPECT_TRUE(added.thresholds[0].has_max_bytes());
}

TEST(ThresholdUpdateTest, AWholeProcessGetsAFifthToSpare) {
  MemoryProfile profile = Profile(80);
  BenchmarkMemory* const whole = profile.add_benchmarks();
  whole->set_name("whole_process/x");
  Metric* const metric = whole->add_metrics();
  metric->set_kind(PEAK_RESIDENT_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value(10000000);
  const auto add = [&profile] {
    return ThresholdsForNewBenchmarks({profile}, {}, UpdateOptions(),
                                      ThresholdFile());
  };
  NewThresholds added = add();
  ASSERT_THAT(added.thresholds, SizeIs(2));
  EXPECT_EQ(added.thresholds[1].selector().benchmark(), "whole_process/x");
  EXPECT_EQ(added.thresholds[1].metric(), PEAK_RESIDENT_BYTES);
  EXPECT_EQ(added.thresholds[1].max_bytes(), 12000000);
  // The headroom is a fifth of the program's own memory.
  Metric* const own = whole->add_metrics();
  own->set_kind(RESIDENT_ANONYMOUS_BYTES);
  own->set_value(4000000);
  EXPECT_EQ(add().thresholds[1].max_bytes(), 10800000);
  own->set_value(1000000);
  EXPECT_EQ(add().thresholds[1].max_bytes(), 10524288);
}

TEST(ThresholdUpdateTest, WhatANewBenchmarkMapsIsLimitedToo) {
  MemoryProfile profile = Profile(80);
  Metric* const mapped = profile.mutable_benchmarks(0)->add_metrics();
  mapped->set_kind(PEAK_MAPPED_BYTES);
  mapped->set_determinism(EXACT);
  mapped->set_value(4096);
  const NewThresholds added = ThresholdsForNewBenchmarks(
      {profile}, {}, UpdateOptions(), ThresholdFile());
  ASSERT_THAT(added.thresholds, SizeIs(2));
  EXPECT_EQ(added.thresholds[1].metric(), PEAK_MAPPED_BYTES);
  EXPECT_EQ(added.thresholds[1].max_bytes(), 4096);
  // A benchmark that a threshold names but none limits gets thresholds too.
  const auto add = [&profile](const std::string& body) {
    return ThresholdsForNewBenchmarks({profile},
                                      {ParseThresholdFile("t", kHeader + body)},
                                      UpdateOptions(), ThresholdFile())
        .thresholds;
  };
  EXPECT_THAT(add(Rule("min_bytes: 1")), SizeIs(2));
  EXPECT_THAT(add(Rule("max_bytes: 90 severity: WARN")), SizeIs(2));
  EXPECT_THAT(add(Rule("max_bytes: 90")), IsEmpty());
  EXPECT_THAT(add("exemption { selector { label: '//a:b' } reason: 'a toy' }"),
              IsEmpty());
  // A limit that it has already is not added again.
  EXPECT_THAT(add("threshold { selector { label: '//a:b' } metric: "
                  "PEAK_MAPPED_BYTES max_bytes: 1 }"),
              SizeIs(1));
}

TEST(ThresholdUpdateTest, ABenchmarkNamedForAnotherEnvironmentIsNewHere) {
  const auto rule = [](const char* compiler) {
    return ParseThresholdFile(
        "t", absl::StrCat(kHeader, "environment { compiler: '", compiler,
                          "' }\n", Rule("max_bytes: 100")));
  };
  const auto added = [](const ThresholdSource& source) {
    return ThresholdsForNewBenchmarks({Profile(80)}, {source}, UpdateOptions(),
                                      ThresholdFile())
        .thresholds;
  };
  ASSERT_THAT(added(rule("clang")), SizeIs(1));
  EXPECT_EQ(added(rule("clang"))[0].max_bytes(), 80);
  EXPECT_THAT(added(rule("gcc")), IsEmpty());
}

TEST(ThresholdUpdateTest, NewBenchmarksThatDoNotCountGetNone) {
  const auto refused = [](const MemoryProfile& profile) {
    const NewThresholds added = ThresholdsForNewBenchmarks(
        {profile}, {}, UpdateOptions(), ThresholdFile());
    EXPECT_THAT(added.thresholds, IsEmpty());
    return added.refusals;
  };
  MemoryProfile profile = Profile(80);
  profile.set_process_count(1);
  EXPECT_THAT(refused(profile), SizeIs(1));
  profile = Profile(80);
  profile.mutable_benchmarks(0)->set_forked_process_count(1);
  EXPECT_THAT(refused(profile), SizeIs(1));
  profile = Profile(80);
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_kind(ALLOCATION_COUNT);
  EXPECT_THAT(refused(profile), SizeIs(1));
}

TEST(ThresholdUpdateTest, ANewEnvironmentTakesTheRulesAndItsOwnValues) {
  const ThresholdSource model = ParseThresholdFile(
      "t", absl::StrCat(kHeader, "environment { compiler: 'clang' }\n",
                        Rule("exact_bytes: 1 owner: 'me' history { date: "
                             "'2026-11-21' new_value: 1 reason: 'old' }")));
  ASSERT_THAT(model.problems, IsEmpty());
  UpdateOptions options;
  options.date = "2026-11-22";
  const NewThresholds one =
      ThresholdsForEnvironment({Profile(80)}, {model}, options);
  ASSERT_THAT(one.thresholds, SizeIs(1));
  EXPECT_EQ(one.thresholds[0].exact_bytes(), 80);
  EXPECT_EQ(one.thresholds[0].owner(), "me");
  ASSERT_THAT(one.thresholds[0].history(), SizeIs(1));
  EXPECT_EQ(one.thresholds[0].history(0).date(), "2026-11-22");
  const NewThresholds two =
      ThresholdsForEnvironment({Profile(80, 90)}, {model}, options);
  ASSERT_THAT(two.thresholds, SizeIs(2));
  EXPECT_EQ(two.thresholds[1].selector().benchmark(), "BM_Y");
  EXPECT_EQ(two.thresholds[1].exact_bytes(), 90);
  // A threshold that a file of this environment has is not added again.
  const ThresholdSource own = ParseThresholdFile(
      "own", absl::StrCat(kHeader, kEnvironment,
                          "threshold { selector { label: '//a:b' benchmark: "
                          "'BM_X' } metric: PEAK_LIVE_USABLE_BYTES "
                          "exact_bytes: 80 }"));
  const NewThresholds rest =
      ThresholdsForEnvironment({Profile(80, 90)}, {model, own}, options);
  ASSERT_THAT(rest.thresholds, SizeIs(1));
  EXPECT_EQ(rest.thresholds[0].selector().benchmark(), "BM_Y");
  // A figure that does not count gives no threshold.
  MemoryProfile forked = Profile(80);
  forked.mutable_benchmarks(0)->set_forked_process_count(1);
  const NewThresholds none =
      ThresholdsForEnvironment({forked}, {model}, options);
  EXPECT_THAT(none.thresholds, IsEmpty());
  EXPECT_THAT(none.refusals, SizeIs(1));
}

// For any rules and values: after an update that may raise limits, every rule
// holds, and a second update changes nothing.
TEST(ThresholdUpdatePropertyTest, AnUpdateIsAcceptedAndIsFinal) {
  std::mt19937 random(21);
  const auto below = [&](int bound) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(bound));
  };
  int changed = 0;
  for (int round = 0; round < 1500; ++round) {
    MemoryProfile profile = Profile(1 + below(300), 1 + below(300));
    const std::string headrooms[] = {
        "", kExactHeadroom,
        absl::StrCat("headroom { bytes: ", below(50), " }\n"),
        absl::StrCat("headroom { percent: ", below(50), " }\n")};
    std::string body = kEnvironment + headrooms[below(4)];
    for (const char* name : {"BM_X", "BM_Y"}) {
      const std::string begin = absl::StrCat(
          "threshold { # ", round, "\n selector { label: '//a:b' benchmark: '",
          name, "' } metric: PEAK_LIVE_USABLE_BYTES ");
      const int64_t minimum = below(300);
      const std::string rules[] = {
          absl::StrCat("max_bytes: ", below(300)),
          absl::StrCat("exact_bytes: ", below(300)),
          absl::StrCat("min_bytes: ", 1 + minimum),
          absl::StrCat("min_bytes: ", minimum,
                       " max_bytes: ", minimum + below(100)),
          absl::StrCat("max_ratio { ratio: ", 1 + below(30),
                       "e-1 baseline { "
                       "label: '//a:b' benchmark: '",
                       std::string(name) == "BM_X" ? "BM_Y" : "BM_X", "' } }"),
          absl::StrCat("max: '0.", 1 + below(300), " kB'"),
          absl::StrCat("max: '", below(300), " B + ", below(50), " %'"),
          absl::StrCat("max: '+ ", below(50), below(2) == 0 ? " %'" : " B'"),
          absl::StrCat("max: '", minimum + 1 + below(100), " B' min: '",
                       minimum + 1, "'"),
      };
      absl::StrAppend(&body, begin, rules[below(9)], " }\n");
    }
    if (below(2) == 0) {
      // Adds a default, to which these may be exceptions.
      absl::StrAppend(&body,
                      "threshold { selector { label: '//a:b' } metric: "
                      "PEAK_LIVE_USABLE_BYTES ",
                      below(2) == 0 ? absl::StrCat("max: '", below(300), " B'")
                                    : absl::StrCat("max_bytes: ", below(300)),
                      " }\n");
    }
    absl::StrAppend(&body,
                    "exemption { selector { label: '//a:b' } reason: "
                    "'any of these rules' }\n");
    const Result result = Update(profile, body, Increase());
    ASSERT_THAT(result.source.problems, IsEmpty());
    changed += result.plan.changes[0].empty() ? 0 : 1;
    const Verdict verdict =
        Evaluate({profile}, {result.source}, EvaluationOptions());
    ASSERT_EQ(verdict.decision(), ACCEPT) << body << verdict.DebugString();
    ASSERT_THAT(PlanUpdate({profile}, {result.source}, Increase()).changes[0],
                IsEmpty())
        << body;
  }
  EXPECT_GT(changed, 500);
}

}  // namespace
}  // namespace footprint

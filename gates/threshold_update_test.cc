#include "footprint/gates/threshold_update.h"

#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/evaluate.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/threshold_edit.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/profiling/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHeader[] =
    "# proto-file: gates/gate.proto\n"
    "# proto-message: footprint.ThresholdFile\nschema_version: 1\n";
constexpr char kEnvironment[] = "environment { compiler: 'gcc' }\n";

MemoryProfile Profile(int64_t peak, int64_t other_peak = 0) {
  MemoryProfile profile;
  profile.set_label("//a:b");
  profile.mutable_environment()->set_compiler("gcc");
  for (const auto& [name, value] :
       {std::pair("BM_X", peak), {"BM_Y", other_peak}}) {
    if (value == 0) continue;
    profile.add_benchmarks()->set_name(name);
    Metric* metric = profile.mutable_benchmarks(profile.benchmarks_size() - 1)
                         ->add_metrics();
    metric->set_kind(PEAK_LIVE_USABLE_BYTES);
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
  EXPECT_TRUE(edited.ok()) << edited.status();
  if (edited.ok()) result.source = ParseThresholdFile("t", *edited);
  return result;
}

UpdateOptions Increase() {
  UpdateOptions options;
  options.allow_increase = true;
  options.reason = "a cache";
  return options;
}

TEST(ThresholdUpdateTest, LowersFreely) {
  EXPECT_EQ(Update(Profile(80), Rule("max_bytes: 100"))
                .source.file.threshold(0)
                .max_bytes(),
            80);
  const Result exact =
      Update(Profile(80), kEnvironment + Rule("exact_bytes: 100"));
  EXPECT_EQ(exact.source.file.threshold(0).exact_bytes(), 80);
  EXPECT_THAT(exact.source.file.threshold(0).history(), IsEmpty());
  EXPECT_THAT(exact.plan.descriptions,
              ElementsAre("t:5: //a:b * peak live: limit 100 B -> 80 B"));
  // To the largest of several.
  EXPECT_EQ(Update(Profile(80, 90), Rule("max_bytes: 100"))
                .source.file.threshold(0)
                .max_bytes(),
            90);
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
  // One selected benchmark moves a limit that it shares, but not below the
  // rest.
  options.label = "*";
  options.benchmark = "BM_X";
  EXPECT_EQ(Update(Profile(80, 90), Rule("max_bytes: 100"), options)
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
  const Result higher = Update(Profile(200), band, Increase());
  EXPECT_EQ(higher.source.file.threshold(0).min_bytes(), 190);
  EXPECT_EQ(higher.source.file.threshold(0).max_bytes(), 210);
  EXPECT_THAT(Update(Profile(200), band).plan.refusals, SizeIs(1));
  // Not below zero.
  EXPECT_EQ(Update(Profile(3), band).source.file.threshold(0).min_bytes(), 0);
  // As wide as what it must hold.
  const Result wide = Update(Profile(10, 80), band);
  EXPECT_EQ(wide.source.file.threshold(0).min_bytes(), 10);
  EXPECT_EQ(wide.source.file.threshold(0).max_bytes(), 80);
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

TEST(ThresholdUpdateTest, NewBenchmarksGetTheirPeak) {
  const std::vector<ThresholdSource> sources = {ParseThresholdFile(
      "t", absl::StrCat(kHeader,
                        "threshold { selector { label: '//a:b' benchmark: "
                        "'BM_X' } metric: PEAK_LIVE_USABLE_BYTES max_bytes: 9 "
                        "}"))};
  MemoryProfile profile = Profile(80, 90);
  std::vector<Threshold> added =
      ThresholdsForNewBenchmarks({profile}, sources, UpdateOptions(), false);
  ASSERT_THAT(added, SizeIs(1));
  EXPECT_EQ(added[0].selector().benchmark(), "BM_Y");
  EXPECT_EQ(added[0].max_bytes(), 90);
  // With threads the sum of their peaks is what repeats.
  profile.mutable_benchmarks(1)->mutable_metrics(0)->set_kind(
      SUM_THREAD_PEAK_USABLE_BYTES);
  added = ThresholdsForNewBenchmarks({profile}, sources, UpdateOptions(), true);
  ASSERT_THAT(added, SizeIs(1));
  EXPECT_EQ(added[0].metric(), SUM_THREAD_PEAK_USABLE_BYTES);
  EXPECT_EQ(added[0].exact_bytes(), 90);
}

TEST(ThresholdUpdateTest, ANewEnvironmentTakesTheRulesAndItsOwnValues) {
  const ThresholdSource model = ParseThresholdFile(
      "t", absl::StrCat(kHeader, "environment { compiler: 'clang' }\n",
                        Rule("exact_bytes: 1 owner: 'me' history { reason: "
                             "'old' }")));
  const std::vector<Threshold> one =
      ThresholdsForEnvironment({Profile(80)}, model, UpdateOptions());
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].exact_bytes(), 80);
  EXPECT_EQ(one[0].owner(), "me");
  EXPECT_THAT(one[0].history(), IsEmpty());
  const std::vector<Threshold> two =
      ThresholdsForEnvironment({Profile(80, 90)}, model, UpdateOptions());
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_EQ(two[1].selector().benchmark(), "BM_Y");
  EXPECT_EQ(two[1].exact_bytes(), 90);
}

// Whatever the rules and the values: after an update that may raise, every rule
// holds, and a second update finds nothing to do.
TEST(ThresholdUpdatePropertyTest, AnUpdateIsAcceptedAndIsFinal) {
  std::mt19937 random(21);
  const auto below = [&](int bound) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(bound));
  };
  int changed = 0;
  for (int round = 0; round < 3000; ++round) {
    MemoryProfile profile = Profile(1 + below(300), 1 + below(300));
    std::string body = kEnvironment;
    for (const char* name : {"BM_X", "BM_Y"}) {
      const std::string begin = absl::StrCat(
          "threshold { # ", round, "\n selector { label: '//a:b' benchmark: '",
          name, "' } metric: PEAK_LIVE_USABLE_BYTES ");
      const int64_t minimum = below(300);
      const std::string rules[] = {
          absl::StrCat("max_bytes: ", below(300)),
          absl::StrCat("exact_bytes: ", below(300)),
          absl::StrCat("min_bytes: ", minimum),
          absl::StrCat("min_bytes: ", minimum,
                       " max_bytes: ", minimum + below(100)),
          absl::StrCat("max_ratio { ratio: ", 1 + below(30),
                       "e-1 baseline { "
                       "label: '//a:b' benchmark: 'BM_Y' } }"),
      };
      absl::StrAppend(&body, begin, rules[below(5)], " }\n");
    }
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
  EXPECT_GT(changed, 1000);
}

}  // namespace
}  // namespace footprint

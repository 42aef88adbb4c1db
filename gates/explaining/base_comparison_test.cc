#include "footprint/gates/explaining/base_comparison.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Change = ComparedFigure::Change;

MemoryProfile Parse(const std::string& text) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &profile));
  return profile;
}

std::string MetricText(const char* kind, int64_t value,
                       const char* determinism = "EXACT") {
  return absl::StrCat("metrics { kind: ", kind, " determinism: ", determinism,
                      " value: ", value, " } ");
}

// Makes a profile of one benchmark with a phase and a line.
MemoryProfile Profile(const std::string& label = "//a:b") {
  return Parse(absl::StrCat(
      "label: '", label, "' process_count: 3 benchmarks { name: 'BM_X' ",
      MetricText("PEAK_LIVE_USABLE_BYTES", 10000),
      MetricText("ALLOCATION_COUNT", 5),
      MetricText("NET_GROWTH_USABLE_BYTES", 0),
      MetricText("PEAK_MAPPED_BYTES", 0), "phases { name: 'read' parent: -1 ",
      MetricText("PEAK_LIVE_USABLE_BYTES", 9000),
      "} peak_attribution { site: 'Table::Read' live_bytes: 9000 } }"));
}

Metric* Find(MemoryProfile* profile, MetricKind kind) {
  for (Metric& metric : *profile->mutable_benchmarks(0)->mutable_metrics()) {
    if (metric.kind() == kind) return &metric;
  }
  return nullptr;
}

void Grow(MemoryProfile* profile, MetricKind kind, int64_t growth) {
  Metric* const metric = Find(profile, kind);
  metric->set_value(metric->value() + growth);
}

BaseComparison Compare(const std::vector<MemoryProfile>& base,
                       const std::vector<MemoryProfile>& change,
                       const std::vector<std::string>& limits = {}) {
  BaseComparisonOptions options;
  for (const std::string& limit : limits) {
    const absl::StatusOr<GrowthLimit> read = ParseGrowthLimit(limit);
    EXPECT_THAT(read, IsOk());
    options.limits.push_back(*read);
  }
  absl::StatusOr<BaseComparison> comparison =
      CompareWithBase(base, change, options);
  EXPECT_THAT(comparison, IsOk());
  return *std::move(comparison);
}

Decision Decide(const MemoryProfile& change,
                const std::vector<std::string>& limits = {}) {
  return Compare({Profile()}, {change}, limits).verdict.decision();
}

// Makes a random profile, with nested phases and with unknown and varying
// figures.
MemoryProfile RandomProfile(std::mt19937* random, const std::string& label) {
  const auto below = [random](int bound) {
    return static_cast<int>((*random)() % static_cast<unsigned>(bound));
  };
  const auto fill = [&](auto* measured) {
    for (int kind = 1; kind <= 16; ++kind) {
      if (below(4) == 0) {
        measured->add_unrepeated(static_cast<MetricKind>(kind));
        continue;
      }
      Metric* const metric = measured->add_metrics();
      metric->set_kind(static_cast<MetricKind>(kind));
      metric->set_determinism(static_cast<Determinism>(1 + below(3)));
      metric->set_value(below(1 << 30) - (1 << 20));
    }
  };
  MemoryProfile profile;
  profile.set_label(label);
  for (int i = 0, count = below(4); i < count; ++i) {
    BenchmarkMemory* const benchmark = profile.add_benchmarks();
    benchmark->set_name(absl::StrCat("BM_", i));
    benchmark->set_forked_process_count(below(2));
    fill(benchmark);
    for (int j = 0, phases = below(4); j < phases; ++j) {
      Phase* const phase = benchmark->add_phases();
      phase->set_name(absl::StrCat("phase", j));
      phase->set_parent(j - 1);
      fill(phase);
      Attribution* const site = benchmark->add_peak_attribution();
      site->set_site(absl::StrCat("site", j));
      site->set_live_bytes(below(1000));
    }
  }
  return profile;
}

TEST(BaseComparisonTest, NothingDiffersInThousandUnchangedProfiles) {
  std::mt19937 random(44);
  std::vector<MemoryProfile> profiles;
  for (int i = 0; i < 1000; ++i) {
    profiles.push_back(RandomProfile(&random, absl::StrCat("//a:", i)));
  }
  std::vector<MemoryProfile> again = profiles;
  std::shuffle(again.begin(), again.end(), random);
  const BaseComparison comparison = Compare(profiles, again);
  EXPECT_EQ(comparison.verdict.decision(), ACCEPT);
  EXPECT_THAT(comparison.figures, IsEmpty());
  EXPECT_THAT(comparison.diff.deployments, IsEmpty());
  EXPECT_THAT(comparison.verdict.problems(), IsEmpty());
  EXPECT_EQ(comparison.diff.same_count, 1000);
}

TEST(BaseComparisonTest, AByteIsNamedWithItsPhaseAndLine) {
  MemoryProfile change = Profile();
  Grow(&change, PEAK_LIVE_USABLE_BYTES, 1);
  BenchmarkMemory* const benchmark = change.mutable_benchmarks(0);
  benchmark->mutable_phases(0)->mutable_metrics(0)->set_value(9001);
  benchmark->mutable_peak_attribution(0)->set_live_bytes(9001);
  const BaseComparison comparison = Compare({Profile()}, {change});
  EXPECT_EQ(comparison.verdict.decision(), REJECT);
  ASSERT_THAT(comparison.figures, SizeIs(1));
  const ComparedFigure& figure = comparison.figures[0];
  EXPECT_EQ(figure.change, Change::kGrown);
  EXPECT_TRUE(figure.is_over_limit);
  EXPECT_THAT(figure.description, HasSubstr("peak live +1 B"));
  EXPECT_THAT(figure.reasons,
              ElementsAre("phase read +1 B", "+1 B held by Table::Read"));
  ASSERT_THAT(comparison.verdict.judgements(), SizeIs(1));
  EXPECT_EQ(comparison.verdict.judgements(0).limit(), 10000);
  EXPECT_EQ(comparison.verdict.judgements(0).measured(), 10001);
}

TEST(BaseComparisonTest, LimitsAreSharesOrBytesAndTheMostParticularHolds) {
  MemoryProfile change = Profile();
  Grow(&change, PEAK_LIVE_USABLE_BYTES, 100);
  EXPECT_EQ(Decide(change), REJECT);
  EXPECT_EQ(Decide(change, {"1 %"}), ACCEPT);
  EXPECT_EQ(Decide(change, {"0.9 %"}), REJECT);
  EXPECT_EQ(Decide(change, {"100"}), ACCEPT);
  EXPECT_EQ(Decide(change, {"+ 99 B"}), REJECT);
  EXPECT_EQ(Decide(change, {"//a:*=1 %", "0 B"}), ACCEPT);
  EXPECT_EQ(Decide(change, {"1 MB", "//a:b=0 %"}), REJECT);
  EXPECT_EQ(Decide(change, {"1 MB", "0 %"}), REJECT);  // the last
  // The first is a part of the third also if the second, which overlaps both,
  // stands between the two.
  EXPECT_EQ(Decide(change, {"//a:b*=0 %", "*b=0 %", "//a:*=50 %"}), REJECT);
  EXPECT_EQ(Decide(change, {"//a:b*=0 %", "*b=50 %", "//a:*=0 %"}), ACCEPT);
  // A figure that keeps its limit is listed too.
  EXPECT_THAT(Compare({Profile()}, {change}, {"1 %"}).figures, SizeIs(1));
}

TEST(BaseComparisonTest, WhatIsOverItsLimitStandsFirst) {
  MemoryProfile more = Profile("//a:more");
  Grow(&more, PEAK_LIVE_USABLE_BYTES, 5000);
  MemoryProfile less = Profile("//a:less");
  Grow(&less, PEAK_LIVE_USABLE_BYTES, 1);
  const BaseComparison comparison =
      Compare({Profile("//a:more"), Profile("//a:less")}, {more, less},
              {"//a:more=1 MB"});
  ASSERT_THAT(comparison.figures, SizeIs(2));
  EXPECT_EQ(comparison.figures[0].label, "//a:less");
  EXPECT_TRUE(comparison.figures[0].is_over_limit);
  EXPECT_FALSE(comparison.figures[1].is_over_limit);
}

TEST(BaseComparisonTest, ALeakAMappingAChildAThreadAndAPhaseAreNamed) {
  MemoryProfile leak = Profile();
  Grow(&leak, NET_GROWTH_USABLE_BYTES, 64);
  const BaseComparison leaking = Compare({Profile()}, {leak});
  EXPECT_EQ(leaking.verdict.decision(), REJECT);
  EXPECT_THAT(leaking.figures[0].reasons[0], HasSubstr("a leak (NET_GROWTH)"));

  MemoryProfile mapping = Profile();
  Grow(&mapping, PEAK_MAPPED_BYTES, 1 << 20);
  const BaseComparison mapped = Compare({Profile()}, {mapping});
  EXPECT_EQ(mapped.verdict.decision(), REJECT);
  EXPECT_THAT(mapped.figures[0].description,
              HasSubstr("peak mapped +1.00 MiB"));

  MemoryProfile child = Profile();
  child.mutable_benchmarks(0)->set_forked_process_count(1);
  const BaseComparison forked = Compare({Profile()}, {child});
  EXPECT_EQ(forked.verdict.decision(), INCONCLUSIVE);
  ASSERT_THAT(forked.figures, SizeIs(1));
  EXPECT_THAT(forked.figures[0].reasons[0],
              HasSubstr("child processes: 0 -> 1"));

  MemoryProfile thread = Profile();
  thread.mutable_benchmarks(0)->add_order_dependent(
      PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  EXPECT_THAT(Compare({Profile()}, {thread}).figures[0].reasons[0],
              HasSubstr("threads: none -> some"));

  MemoryProfile phase = Profile();
  *phase.mutable_benchmarks(0)->add_phases() =
      Profile().benchmarks(0).phases(0);
  phase.mutable_benchmarks(0)->mutable_phases(1)->set_name("sort");
  const BaseComparison longer = Compare({Profile()}, {phase});
  EXPECT_EQ(longer.verdict.decision(), ACCEPT);
  ASSERT_THAT(longer.figures, SizeIs(1));
  EXPECT_THAT(longer.figures[0].description, HasSubstr("phase sort is new"));
}

// The peak shrinks, and the sum of the threads' peaks grows.
TEST(BaseComparisonTest, OfFiguresOfOneGrowthTheOneOverItsLimitIsJudged) {
  const auto with_threads = [](int64_t peak, int64_t sum) {
    return Parse(absl::StrCat("label: '//a:b' benchmarks { name: 'BM_X' ",
                              MetricText("PEAK_LIVE_USABLE_BYTES", peak),
                              MetricText("SUM_THREAD_PEAK_USABLE_BYTES", sum),
                              "}"));
  };
  const BaseComparison comparison =
      Compare({with_threads(100, 200)}, {with_threads(90, 300)});
  ASSERT_THAT(comparison.figures, SizeIs(1));
  EXPECT_THAT(comparison.figures[0].description,
              HasSubstr("sum of thread peaks +100 B"));
  EXPECT_EQ(comparison.verdict.decision(), REJECT);
}

TEST(BaseComparisonTest, AFigureThatIsNotKnownDecidesNothing) {
  MemoryProfile change = Profile();
  change.mutable_benchmarks(0)->add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  change.mutable_benchmarks(0)->mutable_metrics()->DeleteSubrange(0, 1);
  const BaseComparison comparison = Compare({Profile()}, {change});
  EXPECT_EQ(comparison.verdict.decision(), INCONCLUSIVE);
  EXPECT_THAT(comparison.verdict.problems(0).message(),
              HasSubstr("10,000 B -> unknown"));
}

TEST(BaseComparisonTest, SavingsNewAndGoneAreSaidAndRejectNothing) {
  MemoryProfile change = Profile();
  Grow(&change, PEAK_LIVE_USABLE_BYTES, -5000);
  const BaseComparison comparison =
      Compare({Profile(), Profile("//c:d")}, {change, Profile("//e:f")});
  EXPECT_EQ(comparison.verdict.decision(), ACCEPT);
  ASSERT_THAT(comparison.figures, SizeIs(3));
  std::vector<Change> changes;
  for (const ComparedFigure& figure : comparison.figures) {
    changes.push_back(figure.change);
  }
  EXPECT_THAT(changes, testing::UnorderedElementsAre(
                           Change::kShrunk, Change::kNew, Change::kGone));
}

TEST(BaseComparisonTest, ASmallDecreaseIsAHint) {
  MemoryProfile change = Profile();
  Grow(&change, PEAK_LIVE_USABLE_BYTES, -200);
  MemoryProfile other = Profile("//c:d");
  Grow(&other, PEAK_LIVE_USABLE_BYTES, -300);
  EXPECT_THAT(
      Compare({Profile(), Profile("//c:d")}, {change, other}).hints,
      ElementsAre(HasSubstr(
          "//a:b BM_X: a smaller growth may hide behind this decrease of 200 "
          "B")));
}

TEST(BaseComparisonTest, ARenamedLabelIsAHintAndMayBeSaid) {
  const BaseComparison comparison =
      Compare({Profile("//a:old")}, {Profile("//a:new")});
  EXPECT_EQ(comparison.verdict.decision(), ACCEPT);
  EXPECT_THAT(comparison.figures, SizeIs(2));
  EXPECT_THAT(comparison.hints,
              ElementsAre(HasSubstr("--renamed=//a:old=//a:new")));
  // Nothing shows that two labels without benchmarks are one deployment.
  MemoryProfile gone;
  gone.set_label("//a:gone");
  gone.mutable_failure()->set_kind(ProducerFailure::EXITED);
  MemoryProfile added = gone;
  added.set_label("//a:added");
  EXPECT_THAT(Compare({gone}, {added}).hints, IsEmpty());
  BaseComparisonOptions options;
  options.renamed = {{"//a:old", "//a:new"}};
  const absl::StatusOr<BaseComparison> renamed =
      CompareWithBase({Profile("//a:old")}, {Profile("//a:new")}, options);
  ASSERT_THAT(renamed, IsOk());
  EXPECT_THAT(renamed->figures, IsEmpty());
  options.renamed = {{"//a:none", "//a:new"}};
  EXPECT_THAT(CompareWithBase({Profile()}, {Profile()}, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no profile of the base has the label")));
}

TEST(BaseComparisonTest, VaryingFiguresMustGrowByMore) {
  MemoryProfile base = Profile();
  Find(&base, PEAK_LIVE_USABLE_BYTES)->set_determinism(STATISTICAL);
  Find(&base, PEAK_LIVE_USABLE_BYTES)->set_value(100000000);
  MemoryProfile change = base;
  Grow(&change, PEAK_LIVE_USABLE_BYTES, 4000000);
  change.mutable_benchmarks(0)->mutable_peak_attribution(0)->set_live_bytes(3);
  EXPECT_THAT(Compare({base}, {change}).figures, IsEmpty());
  Grow(&change, PEAK_LIVE_USABLE_BYTES, 2000000);
  EXPECT_EQ(Compare({base}, {change}).verdict.decision(), REJECT);
  // A small figure may grow by 512 KiB.
  Find(&base, PEAK_LIVE_USABLE_BYTES)->set_value(1000);
  Find(&change, PEAK_LIVE_USABLE_BYTES)->set_value(1000 + (512 << 10));
  EXPECT_THAT(Compare({base}, {change}).figures, IsEmpty());
  Grow(&change, PEAK_LIVE_USABLE_BYTES, 1);
  EXPECT_EQ(Compare({base}, {change}).verdict.decision(), REJECT);
}

// A short program ends between two samples of its parts.
TEST(BaseComparisonTest, PartsSayNothingIfTheirPeakDidNotChange) {
  const auto process = [](int64_t peak, int64_t anonymous, int64_t heap) {
    const auto varying = [](const char* kind, int64_t value) {
      return absl::StrCat("metrics { kind: ", kind,
                          " determinism: STATISTICAL value: ", value, " } ");
    };
    return Parse(
        absl::StrCat("label: '//a:b' benchmarks { name: 'whole_process/load' ",
                     varying("PEAK_RESIDENT_BYTES", peak),
                     varying("RESIDENT_ANONYMOUS_BYTES", anonymous),
                     "phases { name: 'part: heap and mappings' ",
                     varying("PEAK_RESIDENT_BYTES", heap), "} phases { name: '",
                     heap > 0 ? "part: stacks" : "part: unexplained", "' } }"));
  };
  const MemoryProfile base = process(50 << 20, 20 << 20, 19 << 20);
  const MemoryProfile same = process(51 << 20, 0, 0);
  const BaseComparison level = Compare({base}, {same});
  EXPECT_THAT(level.figures, IsEmpty());
  EXPECT_EQ(level.diff.same_count, 1);
  const MemoryProfile grown = process(80 << 20, 0, 0);
  const BaseComparison shown = Compare({base}, {grown});
  ASSERT_THAT(shown.figures, SizeIs(1));
  EXPECT_TRUE(shown.figures[0].is_over_limit);
  EXPECT_THAT(shown.diff.deployments[0].children[0].changes, SizeIs(2));
}

TEST(BaseComparisonTest, FailuresAndOtherEnvironmentsAreNoGrowth) {
  MemoryProfile failed;
  failed.set_label("//a:b");
  failed.mutable_failure()->set_kind(ProducerFailure::EXITED);
  EXPECT_EQ(Decide(failed), PRODUCER_FAILED);
  EXPECT_EQ(Compare({failed}, {Profile()}).verdict.decision(), INCONCLUSIVE);
  MemoryProfile other = Profile();
  other.mutable_environment()->set_compiler("clang");
  const BaseComparison comparison = Compare({Profile()}, {other});
  EXPECT_EQ(comparison.verdict.decision(), ENVIRONMENT_MISMATCH);
  EXPECT_THAT(comparison.verdict.problems(0).message(),
              AllOf(HasSubstr("compiler"), HasSubstr("clang")));
}

TEST(BaseComparisonTest, RefusesWhatIsNoLimit) {
  for (const char* bad : {"", "much", "1 percent", "-1 %", "=1 %", "1 Mb",
                          "//a\\b=1 %", "//a:b=", "5 MB + 1 %"}) {
    EXPECT_THAT(ParseGrowthLimit(bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
  EXPECT_THAT(
      CompareWithBase({Profile(), Profile()}, {Profile()},
                      BaseComparisonOptions()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("BM_X twice")));
}

}  // namespace
}  // namespace footprint

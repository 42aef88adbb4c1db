// Tests what whole_process.h promises.

#include "footprint/profiling/schema/whole_process.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/whole_process_name.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::SizeIs;

MemoryProfile FromText(const std::string& text) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &profile));
  return profile;
}

MemoryProfile Told() {
  return FromText(R"pb(
    label: "//a:b"
    process_count: 3
    benchmarks {
      name: "BM_X"
      metrics {
        kind: PEAK_LIVE_ABSOLUTE_USABLE_BYTES
        determinism: EXACT
        value: 10
      }
      metrics { kind: PEAK_MAPPED_BYTES determinism: EXACT value: 5 }
      phases {
        name: "setup"
        parent: -1
        metrics {
          kind: PEAK_LIVE_ABSOLUTE_USABLE_BYTES
          determinism: EXACT
          value: 30
        }
        metrics { kind: PEAK_MAPPED_BYTES determinism: EXACT value: 1 }
      }
    }
  )pb");
}

MemoryProfile Seen() {
  return FromText(R"pb(
    label: "//a:b"
    process_count: 3
    benchmarks {
      name: "whole_process/x"
      metrics { kind: PEAK_RESIDENT_BYTES determinism: STATISTICAL value: 100 }
      metrics {
        kind: RESIDENT_ANONYMOUS_BYTES
        determinism: STATISTICAL
        value: 60
      }
    }
    remarks { about: "whole process" text: "no control group: none" }
  )pb");
}

TEST(WholeProcessTest, WhatIsNotToldOfIsUnaccounted) {
  MemoryProfile profile = Told();
  AddWholeProcess(Seen(), &profile);
  ASSERT_THAT(profile.benchmarks(), SizeIs(2));
  const BenchmarkMemory& whole = profile.benchmarks(1);
  EXPECT_EQ(whole.name(), "whole_process/x");
  ASSERT_THAT(whole.phases(), SizeIs(1));
  EXPECT_EQ(whole.phases(0).name(), kUnaccountedPhase);
  EXPECT_EQ(whole.phases(0).metrics(0).value(), 60 - (30 + 5));
  ASSERT_THAT(profile.remarks(), SizeIs(1));
}

TEST(WholeProcessTest, MoreThanWasSeenLeavesNothing) {
  MemoryProfile profile = Told();
  MemoryProfile seen = Seen();
  seen.mutable_benchmarks(0)->mutable_metrics(1)->set_value(34);
  AddWholeProcess(seen, &profile);
  EXPECT_EQ(profile.benchmarks(1).phases(0).metrics(0).value(), 0);
}

int64_t UnaccountedBeside(const MemoryProfile& told,
                          const MemoryProfile& seen) {
  MemoryProfile profile = told;
  AddWholeProcess(seen, &profile);
  return UnaccountedBytes(profile.benchmarks(profile.benchmarks_size() - 1));
}

TEST(WholeProcessTest, AProgramWithoutBenchmarksHasNothingUnaccounted) {
  MemoryProfile profile = Told();
  profile.clear_benchmarks();
  AddWholeProcess(Seen(), &profile);
  EXPECT_THAT(profile.benchmarks(0).phases(), SizeIs(0));
}

TEST(WholeProcessTest, AFigureThatABenchmarkLacksTellsOfNothing) {
  MemoryProfile profile = Told();
  *profile.add_benchmarks() = profile.benchmarks(0);
  profile.mutable_benchmarks(1)->set_name("BM_Y");
  profile.mutable_benchmarks(1)->mutable_metrics()->RemoveLast();
  profile.mutable_benchmarks(1)->clear_phases();
  EXPECT_EQ(UnaccountedBeside(profile, Seen()), 60 - (30 + 5));
  profile.mutable_benchmarks(0)->clear_metrics();
  profile.mutable_benchmarks(0)->clear_phases();
  EXPECT_EQ(UnaccountedBeside(profile, Seen()), 60 - 10);
}

TEST(WholeProcessTest, ThreadsTellByTheSumOfTheirPeaks) {
  MemoryProfile profile = Told();
  BenchmarkMemory* const benchmark = profile.mutable_benchmarks(0);
  benchmark->mutable_metrics(0)->set_kind(SUM_THREAD_PEAK_USABLE_BYTES);
  benchmark->add_unrepeated(PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  benchmark->add_order_dependent(PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
  // The bytes live at the setup's end, plus what the threads added.
  EXPECT_EQ(UnaccountedBeside(profile, Seen()), 60 - (30 + 10 + 5));
}

TEST(WholeProcessTest, AddressSpaceWithoutPagesTellsOfNothing) {
  MemoryProfile profile = Told();
  profile.mutable_benchmarks(0)->mutable_metrics(1)->set_value(int64_t{1}
                                                               << 40);
  MemoryProfile seen = Seen();
  EXPECT_EQ(UnaccountedBeside(profile, seen), 0);
  Phase* const untouched = seen.mutable_benchmarks(0)->add_phases();
  untouched->set_name(kUntouchedPhase);
  Metric* const metric = untouched->add_metrics();
  metric->set_kind(PEAK_MAPPED_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value((int64_t{1} << 40) - 3);
  EXPECT_EQ(UnaccountedBeside(profile, seen), 60 - (30 + 3));
}

TEST(WholeProcessTest, AProcessThatOutlivesTheProgramIsNoted) {
  MemoryProfile seen = Seen();
  EXPECT_FALSE(IsOutlived(seen.benchmarks(0)));
  Phase* const alive = seen.mutable_benchmarks(0)->add_phases();
  alive->set_name(kOutlivedPhase);
  Metric* const metric = alive->add_metrics();
  metric->set_kind(PEAK_RESIDENT_BYTES);
  metric->set_determinism(STATISTICAL);
  EXPECT_TRUE(IsOutlived(seen.benchmarks(0)));
  seen.mutable_benchmarks(0)->set_name("BM_X");
  EXPECT_FALSE(IsOutlived(seen.benchmarks(0)));
}

TEST(WholeProcessTest, AFailureFromOutsideIsTheProfiles) {
  MemoryProfile failed;
  failed.mutable_failure()->set_kind(ProducerFailure::TIMED_OUT);
  MemoryProfile profile = Told();
  AddWholeProcess(failed, &profile);
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::TIMED_OUT);
  // The first failure stays.
  profile.mutable_failure()->set_kind(ProducerFailure::EXITED);
  AddWholeProcess(failed, &profile);
  EXPECT_EQ(profile.failure().kind(), ProducerFailure::EXITED);
}

MemoryProfile SeenBeside(int64_t anonymous_bytes) {
  MemoryProfile profile = Told();
  MemoryProfile seen = Seen();
  seen.mutable_benchmarks(0)->mutable_metrics(1)->set_value(anonymous_bytes);
  AddWholeProcess(seen, &profile);
  return profile;
}

TEST(WholeProcessTest, MostMustBeToldOfIfItIsMuch) {
  EXPECT_EQ(UnaccountedBytes(SeenBeside(60).benchmarks(1)), 25);
  EXPECT_EQ(UnaccountedBytes(Told().benchmarks(0)), 0);
  EXPECT_FALSE(
      TellsTooLittle(SeenBeside(kMostUnaccountedBytes + 35).benchmarks(1)));
  EXPECT_TRUE(
      TellsTooLittle(SeenBeside(kMostUnaccountedBytes + 36).benchmarks(1)));
  EXPECT_FALSE(TellsTooLittle(Told().benchmarks(0)));
}

TEST(WholeProcessTest, HalfOfItIsEnough) {
  MemoryProfile profile = Told();
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_value(20'000'000);
  MemoryProfile seen = Seen();
  Metric* const anonymous = seen.mutable_benchmarks(0)->mutable_metrics(1);
  anonymous->set_value(2 * 20'000'005);
  AddWholeProcess(seen, &profile);
  EXPECT_FALSE(TellsTooLittle(profile.benchmarks(1)));
  profile = Told();
  profile.mutable_benchmarks(0)->mutable_metrics(0)->set_value(20'000'000);
  anonymous->set_value(2 * 20'000'005 + 2);
  AddWholeProcess(seen, &profile);
  EXPECT_TRUE(TellsTooLittle(profile.benchmarks(1)));
}

TEST(WholeProcessTest, TheyCanBeLeftOut) {
  std::vector<MemoryProfile> profiles = {Told()};
  AddWholeProcess(Seen(), &profiles[0]);
  LeaveOutWholeProcesses(&profiles);
  ASSERT_THAT(profiles[0].benchmarks(), SizeIs(1));
  EXPECT_EQ(profiles[0].benchmarks(0).name(), "BM_X");
}

}  // namespace
}  // namespace footprint

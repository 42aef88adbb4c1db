#include "footprint/gates/judge/measurement_index.h"

#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

class MeasurementIndexTest : public testing::Test {
 protected:
  const std::vector<MemoryProfile> profiles_ = {
      FromText<MemoryProfile>(R"pb(
        label: "//a:b"
        benchmarks {
          name: "BM_Load/rows:1"
          arguments { name: "rows" value: "1" }
          metrics { kind: ALLOCATION_COUNT value: 1 }
          phases {
            name: "loop/read"
            metrics { kind: ALLOCATION_COUNT value: 2 }
          }
          phases { name: "loop/fit" unrepeated: ALLOCATION_COUNT }
        }
        benchmarks { name: "BM_Save" unrepeated: PEAK_LIVE_USABLE_BYTES }
      )pb"),
      FromText<MemoryProfile>(R"pb(
        label: "//a:c"
        benchmarks {
          name: "BM_Save"
          metrics { kind: PEAK_LIVE_USABLE_BYTES value: 3 }
        }
      )pb")};
  const MeasurementIndex index_{profiles_};
};

TEST_F(MeasurementIndexTest, FindsProfilesByLabel) {
  EXPECT_THAT(index_.FindProfiles("//a:c"), ElementsAre(1));
  EXPECT_THAT(index_.FindProfiles("//a:*"), ElementsAre(0, 1));
  EXPECT_THAT(index_.FindProfiles("//a:d"), IsEmpty());
  EXPECT_THAT(index_.FindProfiles("//a"), IsEmpty());
}

TEST_F(MeasurementIndexTest, FindsBenchmarksByNameAndArguments) {
  EXPECT_THAT(index_.FindBenchmarks(0, FromText<Selector>("")),
              ElementsAre(0, 1));
  EXPECT_THAT(index_.FindBenchmarks(
                  0, FromText<Selector>("benchmark: 'BM_Load/rows:1'")),
              ElementsAre(0));
  EXPECT_THAT(
      index_.FindBenchmarks(
          0, FromText<Selector>("benchmark: 'BM_Load/rows:1' arguments { "
                                "name: 'rows' value: '2' }")),
      IsEmpty());
  EXPECT_THAT(index_.FindBenchmarks(0, FromText<Selector>("benchmark: 'BM_*'")),
              ElementsAre(0, 1));
}

TEST_F(MeasurementIndexTest, FindsTheWholeRegionUnlessAPhaseIsNamed) {
  const auto whole =
      index_.Find(FromText<Selector>("label: '//a:b'"), ALLOCATION_COUNT);
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_EQ(whole[0].phase, -1);
  EXPECT_EQ(whole[0].metric->value(), 1);
  const auto phases = index_.Find(
      FromText<Selector>("label: '//a:b' phase: 'loop/*'"), ALLOCATION_COUNT);
  ASSERT_THAT(phases, SizeIs(2));
  EXPECT_EQ(phases[0].metric->value(), 2);
  EXPECT_EQ(phases[1].phase, 1);
  EXPECT_EQ(phases[1].metric, nullptr);
}

TEST_F(MeasurementIndexTest, WhatDidNotRepeatIsFoundWithoutAValue) {
  const auto found =
      index_.Find(FromText<Selector>("label: '*'"), PEAK_LIVE_USABLE_BYTES);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].metric, nullptr);
  EXPECT_EQ(found[1].metric->value(), 3);
}

TEST_F(MeasurementIndexTest, SaysWhatASelectorNamesInVain) {
  const auto is_whole = [&](const char* selector, MetricKind kind) {
    std::vector<Measurement> found;
    return index_.AppendMeasurements(0, 0, FromText<Selector>(selector), kind,
                                     &found);
  };
  EXPECT_TRUE(is_whole("", ALLOCATION_COUNT));
  EXPECT_FALSE(is_whole("", PEAK_LIVE_USABLE_BYTES));
  EXPECT_TRUE(is_whole("phase: 'loop/*'", ALLOCATION_COUNT));
  EXPECT_FALSE(is_whole("phase: 'loop/raed'", ALLOCATION_COUNT));
  EXPECT_FALSE(is_whole("phase: 'loop/read'", PEAK_LIVE_USABLE_BYTES));
  std::vector<MemoryProfile> profiles = profiles_;
  profiles[0].mutable_benchmarks(0)->mutable_phases(1)->clear_unrepeated();
  const MeasurementIndex lost(profiles);
  std::vector<Measurement> found;
  EXPECT_FALSE(lost.AppendMeasurements(
      0, 0, FromText<Selector>("phase: 'loop/*'"), ALLOCATION_COUNT, &found));
  EXPECT_THAT(found, SizeIs(1));
}

TEST_F(MeasurementIndexTest, NamesDuplicates) {
  EXPECT_THAT(index_.duplicates(), IsEmpty());
  std::vector<MemoryProfile> profiles = profiles_;
  profiles.push_back(profiles_[1]);
  const MeasurementIndex index(profiles);
  ASSERT_THAT(index.duplicates(), SizeIs(1));
  EXPECT_EQ(index.duplicates()[0].profile, 2);
}

}  // namespace
}  // namespace footprint

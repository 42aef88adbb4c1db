#include "footprint/gates/explaining/growth_reasons.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Metrics(int64_t peak, int64_t calls = 5, int64_t left = 0) {
  const auto metric = [](const char* kind, int64_t value) {
    return std::string("metrics { kind: ") + kind +
           " determinism: EXACT value: " + std::to_string(value) + " } ";
  };
  return metric("PEAK_LIVE_USABLE_BYTES", peak) +
         metric("ALLOCATION_COUNT", calls) +
         metric("NET_GROWTH_USABLE_BYTES", left);
}

std::string Phase(const std::string& name, int parent, int64_t peak) {
  return "phases { name: '" + name + "' parent: " + std::to_string(parent) +
         " " + Metrics(peak) + " } ";
}

std::string Site(const std::string& name, int64_t bytes) {
  return "peak_attribution { site: '" + name +
         "' live_bytes: " + std::to_string(bytes) + " } ";
}

std::string Mapping(const std::string& name, int64_t bytes) {
  return "mapped_attribution { site: '" + name +
         "' live_bytes: " + std::to_string(bytes) + " } ";
}

std::vector<std::string> Reasons(const std::string& before,
                                 const std::string& after,
                                 MetricKind metric = PEAK_LIVE_USABLE_BYTES) {
  std::vector<MemoryProfile> sides(2);
  for (const bool is_after : {false, true}) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "label: '//a:b' benchmarks { name: 'BM_X' " +
            (is_after ? after : before) + " }",
        &sides[is_after ? 1 : 0]));
  }
  const absl::StatusOr<ProfileDiff> diff = DiffProfiles({sides[0]}, {sides[1]});
  EXPECT_THAT(diff, IsOk());
  return FindGrowthReasons(diff->deployments[0].children[0], metric);
}

TEST(GrowthReasonsTest, NamesTheInnermostPhaseTheLinesAndTheCalls) {
  EXPECT_THAT(
      Reasons(Metrics(1000) + Phase("read", -1, 900) + Phase("parse", 0, 500) +
                  Phase("fit", -1, 100) + Site("Table::Read", 700) +
                  Site("phase:fit", 1),
              Metrics(5096, 6) + Phase("read", -1, 4996) +
                  Phase("parse", 0, 4596) + Phase("fit", -1, 150) +
                  Site("Table::Read", 4796) + Site("Copy", 50) +
                  Site("phase:fit", 9)),
      ElementsAre("phase parse +4.00 KiB", "+4.00 KiB held by Table::Read",
                  "+50 B held by Copy, which is new", "1 call more"));
}

TEST(GrowthReasonsTest, NamesTheLinesThatMapped) {
  const std::string peak =
      "metrics { kind: PEAK_MAPPED_BYTES determinism: EXACT value: ";
  EXPECT_THAT(Reasons(peak + "4096 } " + Mapping("Cache (a.cc:3)", 4096) +
                          Site("Read", 5),
                      peak + "12288 } " + Mapping("Cache (a.cc:4)", 8192) +
                          Mapping("main (b.cc:9)", 4096) + Site("Read", 7),
                      PEAK_MAPPED_BYTES),
              ElementsAre("+4.00 KiB mapped by Cache (a.cc:4)",
                          "+4.00 KiB mapped by main (b.cc:9), which is new"));
}

TEST(GrowthReasonsTest, StaysWhereTheGrowthIsSpread) {
  EXPECT_THAT(
      Reasons(
          Metrics(1000) + Phase("read", -1, 900) + Phase("parse", 0, 500),
          Metrics(2000) + Phase("read", -1, 1900) + Phase("parse", 0, 1100)),
      ElementsAre("phase parse +600 B"));
  EXPECT_THAT(
      Reasons(Metrics(1000) + Phase("read", -1, 900) + Phase("parse", 0, 500),
              Metrics(2000) + Phase("read", -1, 1900) + Phase("parse", 0, 600)),
      ElementsAre("phase read +1000 B"));
  EXPECT_THAT(Reasons(Metrics(1000), Metrics(2000) + Phase("sort", -1, 900)),
              ElementsAre("new phase sort +900 B"));
}

TEST(GrowthReasonsTest, APhaseIsNoLine) {
  EXPECT_TRUE(IsPhaseAlone("phase:fit"));
  EXPECT_FALSE(IsPhaseAlone("phase:fit/site:Read (t.cc:41)"));
  EXPECT_FALSE(IsPhaseAlone("tensor:conv1"));
}

TEST(GrowthReasonsTest, CallsALeakOne) {
  EXPECT_THAT(
      Reasons(Metrics(1000), Metrics(1064, 7, 64), NET_GROWTH_USABLE_BYTES),
      ElementsAre("a leak (NET_GROWTH): 64 B more are live at its end "
                  "than at its start",
                  "2 calls more"));
  EXPECT_EQ(DescribeLeak(NET_GROWTH_USABLE_BYTES, -1), "");
  EXPECT_EQ(DescribeLeak(PEAK_LIVE_USABLE_BYTES, 64), "");
}

TEST(GrowthReasonsTest, ASmallDecreaseMayHideAGrowth) {
  EXPECT_THAT(DescribeSmallDecrease(NET_GROWTH_USABLE_BYTES, 200),
              testing::HasSubstr("behind this decrease of 200 B: the usable"));
  EXPECT_NE(DescribeSmallDecrease(PEAK_LIVE_USABLE_BYTES, 4096), "");
  EXPECT_EQ(DescribeSmallDecrease(PEAK_LIVE_USABLE_BYTES, 4097), "");
  EXPECT_EQ(DescribeSmallDecrease(PEAK_LIVE_USABLE_BYTES, 0), "");
  EXPECT_EQ(DescribeSmallDecrease(PEAK_LIVE_USABLE_BYTES, -5), "");
  EXPECT_EQ(DescribeSmallDecrease(PEAK_RESIDENT_BYTES, 200), "");
}

TEST(GrowthReasonsTest, LinesThatHoldLessAreNoReason) {
  EXPECT_THAT(Reasons(Metrics(100) + Site("A", 90) + Site("B", 10),
                      Metrics(110) + Site("A", 80) + Site("B", 30)),
              ElementsAre("+20 B held by B"));
}

TEST(GrowthReasonsTest, SumsManyLines) {
  std::string sites;
  for (const char* name : {"A", "B", "C", "D", "E"}) sites += Site(name, 10);
  const std::string before = Metrics(1) + Site("X", 1);
  sites += Site("X", 1);
  EXPECT_THAT(Reasons(before, Metrics(51) + sites),
              ElementsAre("+10 B held by A, which is new",
                          "+10 B held by B, which is new",
                          "+10 B held by C, which is new", "and 2 more"));
  EXPECT_THAT(Reasons(before, Metrics(51) + sites, PEAK_MAPPED_BYTES),
              IsEmpty());
}

}  // namespace
}  // namespace footprint

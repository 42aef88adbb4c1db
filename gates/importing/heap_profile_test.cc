#include "footprint/gates/importing/heap_profile.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/call_stacks/call_stack_profile.pb.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/importing/testdata_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kMappings[] = "\nMAPPED_LIBRARIES:\n00-01 a\n";

TEST(HeapProfileTest, GperftoolsCountsEveryCall) {
  const auto figures = ParseHeapProfileText(TestdataFile("gperftools.2.heap"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "gperftools");
  EXPECT_EQ(figures->counts, "requested bytes in use when it was written");
  EXPECT_EQ(figures->peaks[0].metric, PEAK_LIVE_REQUESTED_BYTES);
  EXPECT_EQ(figures->peaks[0].bytes, 3992192);
}

// The program held 3,145,728 usable bytes in one block, and up to 1,024,000 in
// small blocks, of which few were sampled.
TEST(HeapProfileTest, JemallocsSamplesAreScaled) {
  const auto figures = ParseHeapProfileText(TestdataFile("jemalloc.heap"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "jemalloc");
  EXPECT_EQ(figures->peaks[0].metric, PEAK_LIVE_USABLE_BYTES);
  EXPECT_GT(figures->peaks[0].bytes, 3145728 + 400000);
  EXPECT_LT(figures->peaks[0].bytes, 3145728 + 2000000);
  EXPECT_THAT(figures->counts, HasSubstr("sampled every 65536 bytes"));
}

TEST(HeapProfileTest, ASampledBlockStandsForThoseThatAreNot) {
  const auto figures = ParseHeapProfileText(
      absl::StrCat("heap profile: 1: 1000 [ 1: 1000] @ heap_v2/1000\n"
                   " 1: 1000 [ 1: 1000] @ 0x1\n",
                   kMappings));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks[0].bytes,
            static_cast<int64_t>(std::ceil(1000 / (1 - std::exp(-1.0)))));
}

TEST(HeapProfileTest, OtherTextIsRefused) {
  for (const char* text :
       {"heap profile: x", "heap profile: 1: 2 @ heapprofile",
        "heap profile: -1: 2 [ 1: 2] @ heapprofile",
        "heap profile: 1: 2 [ 1: 2] @ growthz",
        "heap profile: 1: 2 [ 1: 2] @ heap_v2/0",
        "heap profile: 0: 2 [ 1: 2] @ heapprofile",
        "heap profile: 0: 0 [ 1: 2] @ heapprofile\nhello",
        "heap profile: 1: 9223372036854775807 [ 1: 2] @ heapprofile",
        "heap_v2/x", "heap_v2/0", "heap_v2/512", "heap_v2/512\nhello",
        "heap_v2/512\n  t*: 1: x [0: 0]"}) {
    EXPECT_THAT(ParseHeapProfileText(absl::StrCat(text, "\n", kMappings)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")))
        << text;
  }
  EXPECT_THAT(ParseHeapProfileText(
                  absl::StrCat("heap profile: 1: 2 [ 1: 2] @ heapprofile\n"
                               " 1: 1 [ 1: 1] @ 0x1\n",
                               kMappings)),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("its call sites hold 1 bytes, and its first "
                                 "line says 2")));
}

TEST(HeapProfileTest, CutTextIsRefused) {
  for (const char* name : {"gperftools.1.heap", "jemalloc.heap"}) {
    const std::string whole = TestdataFile(name);
    const size_t mappings = whole.find("MAPPED_LIBRARIES");
    for (size_t size = 0; size < mappings; size += 5) {
      EXPECT_THAT(
          ParseHeapProfileText(whole.substr(0, size)),
          StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
    }
  }
}

// `go tool pprof -raw` prints samples of 4116710 bytes in use.
TEST(HeapProfileTest, GosProfile) {
  const auto figures = ParseGzippedHeapProfile(TestdataFile("pprof.pb.gz"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "pprof");
  EXPECT_EQ(figures->peaks[0].bytes, 4116710);
  EXPECT_EQ(figures->peaks[0].metric, PEAK_LIVE_REQUESTED_BYTES);
  EXPECT_THAT(figures->counts, HasSubstr("sampled every 4096 bytes"));
  int64_t of_main = 0;
  for (const ForeignSite& site : figures->peaks[0].sites) {
    of_main += site.name == "main.main" ? site.live_bytes : 0;
  }
  EXPECT_GT(of_main, 3900000);
}

TEST(HeapProfileTest, ACutOrDamagedArchiveIsRefused) {
  const std::string whole = TestdataFile("pprof.pb.gz");
  for (size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THAT(ParseGzippedHeapProfile(whole.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")))
        << size;
  }
  for (size_t at = 20; at < whole.size() - 8; at += 11) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THAT(ParseGzippedHeapProfile(damaged), Not(IsOk())) << at;
  }
}

CallStackProfile Example() {
  CallStackProfile profile;
  for (const char* text : {"", "inuse_space", "bytes", "cpu"}) {
    profile.add_string_table(text);
  }
  StackValueType* const type = profile.add_sample_type();
  type->set_type(1);
  type->set_unit(2);
  profile.add_sample()->add_value(7);
  return profile;
}

TEST(HeapProfileTest, MessagesThatAreNoHeapProfiles) {
  EXPECT_THAT(ParseHeapProfileMessage(Example().SerializeAsString()), IsOk());
  CallStackProfile of_time = Example();
  of_time.mutable_sample_type(0)->set_type(3);
  CallStackProfile outside = Example();
  outside.mutable_sample_type(0)->set_type(99);
  CallStackProfile negative = Example();
  negative.mutable_sample(0)->set_value(0, -1);
  CallStackProfile overflow = Example();
  overflow.mutable_sample(0)->set_value(0, int64_t{1} << 62);
  *overflow.add_sample() = overflow.sample(0);
  CallStackProfile uneven = Example();
  uneven.mutable_sample(0)->add_value(1);
  const struct {
    CallStackProfile profile;
    const char* part;
  } kCases[] = {{of_time, "but cpu"},
                {outside, "not a heap profile of pprof"},
                {CallStackProfile(), "no types of samples"},
                {negative, "below zero"},
                {overflow, "beyond 2^62"},
                {uneven, "without a value for each type"}};
  for (const auto& each : kCases) {
    EXPECT_THAT(
        ParseHeapProfileMessage(each.profile.SerializeAsString()),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(each.part)));
  }
  EXPECT_THAT(ParseHeapProfileMessage("\xff\xff"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a profile of pprof")));
}

// Its memory would else be that of the name, times the samples.
TEST(HeapProfileTest, TheSamplesOfOneNameAreOneSite) {
  CallStackProfile profile = Example();
  profile.add_string_table(std::string(1024, 'n'));
  for (const uint64_t id : {1, 2}) {
    StackFunction* const function = profile.add_function();
    function->set_id(id);
    function->set_name(4);
    StackLocation* const location = profile.add_location();
    location->set_id(id);
    location->add_line()->set_function_id(id);
  }
  profile.clear_sample();
  for (int i = 0; i < 1000; ++i) {
    StackSample* const sample = profile.add_sample();
    sample->add_value(i);
    sample->add_location_id(1 + i % 2);
  }
  const auto figures = ParseHeapProfileMessage(profile.SerializeAsString());
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->peaks[0].bytes, 499500);
  ASSERT_EQ(figures->peaks[0].sites.size(), 1u);
  EXPECT_EQ(figures->peaks[0].sites[0].name, std::string(1024, 'n'));
  EXPECT_EQ(figures->peaks[0].sites[0].live_bytes, 499500);
}

TEST(HeapProfileTest, KnowsItsFiles) {
  EXPECT_TRUE(LooksLikeHeapProfileText(TestdataFile("gperftools.1.heap")));
  EXPECT_TRUE(LooksLikeHeapProfileText(TestdataFile("jemalloc.heap")));
  EXPECT_TRUE(LooksGzipped(TestdataFile("pprof.pb.gz")));
  EXPECT_FALSE(LooksGzipped(TestdataFile("massif.out")));
}

}  // namespace
}  // namespace footprint

#include "footprint/gates/explaining/profile_diff.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MemoryProfile Parse(const std::string& text) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &profile));
  return profile;
}

std::string Peak(int64_t value) {
  return "metrics { kind: PEAK_LIVE_USABLE_BYTES determinism: EXACT value: " +
         std::to_string(value) + " }";
}

std::string Benchmark(const std::string& name, int64_t peak,
                      const std::string& rest = "") {
  return "benchmarks { name: '" + name + "' " + Peak(peak) + rest + "}";
}

ProfileDiff Diff(const std::vector<std::string>& before,
                 const std::vector<std::string>& after) {
  std::vector<MemoryProfile> old;
  std::vector<MemoryProfile> now;
  for (const std::string& text : before) old.push_back(Parse(text));
  for (const std::string& text : after) now.push_back(Parse(text));
  const absl::StatusOr<ProfileDiff> diff = DiffProfiles(old, now);
  EXPECT_THAT(diff, IsOk());
  return *diff;
}

std::vector<std::string> Names(const std::vector<DiffNode>& nodes) {
  std::vector<std::string> names;
  for (const DiffNode& node : nodes) names.push_back(node.name);
  return names;
}

TEST(ProfileDiffTest, EqualProfilesAreTheSame) {
  const std::string profile = "label: '//a:b' " + Benchmark("BM_X", 5);
  const ProfileDiff diff = Diff({profile}, {profile});
  EXPECT_THAT(diff.deployments, IsEmpty());
  EXPECT_EQ(diff.same_count, 1);
  EXPECT_THAT(Diff({}, {}).deployments, IsEmpty());
}

TEST(ProfileDiffTest, DescendsToTheFigureThatGrew) {
  const std::string phase =
      "phases { name: 'fit' parent: -1 " + Peak(40) +
      "} phases { name: 'fit/read' parent: 0 " + Peak(10) + "}" +
      "peak_attribution { site: 'tensor:w' live_bytes: 8 }" +
      "peak_attribution { site: 'tensor:x' live_bytes: 2 }";
  std::string grown = phase;
  grown.replace(grown.find("value: 10"), 9, "value: 15");
  grown.replace(grown.find("bytes: 2"), 8, "bytes: 7");
  const ProfileDiff diff =
      Diff({"label: '//a:b' " + Benchmark("BM_X", 50, phase)},
           {"label: '//a:b' " + Benchmark("BM_X", 55, grown)});
  ASSERT_EQ(diff.deployments.size(), 1U);
  const DiffNode& benchmark = diff.deployments[0].children.at(0);
  EXPECT_EQ(ComputeGrowth(benchmark, *MainChange(benchmark)), 5);
  // The outer phase is listed because of the phase in it.
  ASSERT_THAT(Names(benchmark.children), ElementsAre("fit", "tensor:x"));
  EXPECT_THAT(benchmark.children[0].changes, IsEmpty());
  ASSERT_THAT(Names(benchmark.children[0].children), ElementsAre("fit/read"));
  EXPECT_EQ(benchmark.children[0].children[0].changes.at(0).after, 15);
  EXPECT_EQ(benchmark.children[1].kind, DiffNode::Kind::kSite);
  EXPECT_EQ(benchmark.children[1].changes.at(0).before, 2);
}

TEST(ProfileDiffTest, TheLargestGrowthComesFirst) {
  const ProfileDiff diff =
      Diff({"label: '//a:a' " + Benchmark("BM_1", 10) + Benchmark("BM_2", 10) +
                Benchmark("BM_3", 10),
            "label: '//a:b' " + Benchmark("BM_X", 10)},
           {"label: '//a:a' " + Benchmark("BM_1", 9) + Benchmark("BM_2", 11) +
                Benchmark("BM_3", 15),
            "label: '//a:b' " + Benchmark("BM_X", 100)});
  EXPECT_THAT(Names(diff.deployments), ElementsAre("//a:b", "//a:a"));
  EXPECT_THAT(Names(diff.deployments[1].children),
              ElementsAre("BM_3", "BM_2", "BM_1"));
  // The highest peak of all benchmarks.
  EXPECT_EQ(diff.deployments[1].changes.at(0).before, 10);
  EXPECT_EQ(diff.deployments[1].changes.at(0).after, 15);
}

TEST(ProfileDiffTest, NewAndGoneAreNamed) {
  const ProfileDiff diff = Diff({"label: '//a:b' " + Benchmark("BM_Old", 7)},
                                {"label: '//a:b' " + Benchmark("BM_New", 9),
                                 "label: '//c:d' " + Benchmark("BM_Y", 3)});
  ASSERT_THAT(Names(diff.deployments), ElementsAre("//a:b", "//c:d"));
  const std::vector<DiffNode>& children = diff.deployments[0].children;
  ASSERT_THAT(Names(children), ElementsAre("BM_New", "BM_Old"));
  EXPECT_EQ(children[0].presence, DiffNode::Presence::kAdded);
  EXPECT_EQ(ComputeGrowth(children[0], children[0].changes.at(0)), 9);
  EXPECT_EQ(children[1].presence, DiffNode::Presence::kRemoved);
  EXPECT_EQ(ComputeGrowth(children[1], children[1].changes.at(0)), -7);
  EXPECT_EQ(diff.deployments[1].presence, DiffNode::Presence::kAdded);
}

TEST(ProfileDiffTest, UnknownIsNeverZero) {
  const ProfileDiff diff =
      Diff({"label: '//a:b' " + Benchmark("BM_X", 7)},
           {"label: '//a:b' benchmarks { name: 'BM_X' unrepeated: "
            "PEAK_LIVE_USABLE_BYTES }"});
  const DiffNode& benchmark = diff.deployments.at(0).children.at(0);
  const MetricChange& change = benchmark.changes.at(0);
  EXPECT_EQ(change.before, 7);
  EXPECT_EQ(change.after, absl::nullopt);
  EXPECT_EQ(ComputeGrowth(benchmark, change), absl::nullopt);
}

TEST(ProfileDiffTest, ProfilesOfOneLabelAreOneDeployment) {
  const std::string one = "label: '//a:b' " + Benchmark("BM_1", 5);
  const std::string two = "label: '//a:b' " + Benchmark("BM_2", 6);
  EXPECT_EQ(Diff({one, two}, {two, one}).same_count, 1);
  const MemoryProfile twice = Parse(one);
  const absl::Status refused = DiffProfiles({twice, twice}, {twice}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("//a:b BM_1 twice"));
}

TEST(ProfileDiffTest, TellsOfFailuresAndOtherEnvironments) {
  const std::string old = "label: '//a:b' environment { compiler: 'gcc 12' } " +
                          Benchmark("BM_X", 7);
  const ProfileDiff other =
      Diff({old}, {"label: '//a:b' environment { compiler: 'gcc 13' } " +
                   Benchmark("BM_X", 7)});
  EXPECT_THAT(other.deployments.at(0).notes,
              ElementsAre(HasSubstr("compiler is \"gcc 13\", not \"gcc 12\"")));
  const ProfileDiff failed =
      Diff({old}, {"label: '//a:b' environment { compiler: 'gcc 12' } "
                   "failure { kind: SIGNALLED signal_number: 9 }"});
  EXPECT_THAT(failed.deployments.at(0).notes,
              ElementsAre(HasSubstr("was killed by signal 9")));
}

TEST(ProfileDiffTest, LinesOfOneFunctionAreOneSite) {
  const auto with_lines = [](int first_bytes, int second_bytes) {
    return "label: '//a:b' " +
           Benchmark("BM_X", 100,
                     "peak_attribution { site: 'f (a.cc:1)' live_bytes: " +
                         std::to_string(first_bytes) +
                         " } peak_attribution { site: 'f (a.cc:9)' "
                         "live_bytes: " +
                         std::to_string(second_bytes) + " }");
  };
  EXPECT_THAT(Diff({with_lines(7, 5)}, {with_lines(5, 7)}).deployments,
              IsEmpty());
  const ProfileDiff grown = Diff({with_lines(100, 5)}, {with_lines(300, 5)});
  ASSERT_EQ(grown.deployments.size(), 1u);
  const auto& sites = grown.deployments[0].children[0].children;
  EXPECT_THAT(Names(sites), ElementsAre("f (a.cc:1)"));
  EXPECT_EQ(sites[0].changes[0].before, 105);
  EXPECT_EQ(sites[0].changes[0].after, 305);
}

// The new line is named, although the edit moved a line that holds more.
TEST(ProfileDiffTest, TheLineThatGrewIsNamed) {
  const auto with = [](const std::string& sites) {
    return "label: '//a:b' " + Benchmark("BM_X", 100, sites);
  };
  const auto line = [](int number, int bytes) {
    return "mapped_attribution { site: 'f (a.cc:" + std::to_string(number) +
           ")' live_bytes: " + std::to_string(bytes) + " } ";
  };
  const auto name_of = [&](const std::string& before,
                           const std::string& after) {
    const ProfileDiff diff = Diff({with(before)}, {with(after)});
    const DiffNode& site = diff.deployments.at(0).children.at(0).children.at(0);
    EXPECT_EQ(site.kind, DiffNode::Kind::kMapping);
    EXPECT_EQ(site.changes.at(0).metric, PEAK_MAPPED_BYTES);
    return site.name;
  };
  EXPECT_EQ(name_of(line(20, 4096), line(18, 24) + line(21, 4096)),
            "f (a.cc:18)");
  EXPECT_EQ(name_of(line(20, 7) + line(21, 7), line(5, 7) + line(6, 9)),
            "f (a.cc:6)");
  // Only a line that is gone differs.
  EXPECT_EQ(name_of(line(20, 7) + line(21, 9), line(30, 7)), "f (a.cc:30)");
  EXPECT_EQ(name_of(line(20, 7) + line(21, 9), ""), "f (a.cc:21)");
  // The new line holds as much as the one that stayed.
  EXPECT_EQ(name_of(line(8, 6), line(10, 6) + line(8, 6)), "f (a.cc:10)");
  // A line shrank to what another holds.
  EXPECT_EQ(name_of(line(25, 5) + line(26, 1), line(25, 1) + line(26, 1)),
            "f (a.cc:25)");
  // One line grew and another shrank; the edit moved both.
  EXPECT_EQ(name_of(line(8, 1) + line(9, 20), line(9, 12) + line(10, 15)),
            "f (a.cc:9)");
  EXPECT_EQ(name_of(line(8, 8) + line(9, 20), line(9, 9) + line(10, 1)),
            "f (a.cc:10)");
}

// A profile without sites does not say that nothing was mapped.
TEST(ProfileDiffTest, SitesThatOneSideDoesNotKnowAreNotNew) {
  const auto with = [](int64_t bytes, const std::string& sites) {
    return "label: '//a:b' " +
           Benchmark("BM_X", 7,
                     "metrics { kind: PEAK_MAPPED_BYTES determinism: EXACT "
                     "value: " +
                         std::to_string(bytes) + " } " + sites);
  };
  const std::string site =
      "mapped_attribution { site: 'f (a.cc:1)' live_bytes: 9 }";
  EXPECT_THAT(Diff({with(9, "")}, {with(9, site)}).deployments, IsEmpty());
  EXPECT_THAT(Diff({with(9, site)}, {with(9, "")}).deployments, IsEmpty());
  const ProfileDiff mapped_first = Diff({with(0, "")}, {with(9, site)});
  EXPECT_THAT(Names(mapped_first.deployments.at(0).children.at(0).children),
              ElementsAre("f (a.cc:1)"));
}

TEST(ProfileDiffTest, ASiteWhoseLineMovedIsTheSame) {
  const auto with_sites = [](const std::string& site, int bytes) {
    return "label: '//a:b' " +
           Benchmark("BM_X", 100,
                     "peak_attribution { site: '" + site +
                         "' live_bytes: " + std::to_string(bytes) + " }");
  };
  EXPECT_THAT(Diff({with_sites("site:Read (t.cc:41)", 9)},
                   {with_sites("site:Read (t.cc:52)", 9)})
                  .deployments,
              IsEmpty());
  const ProfileDiff grown = Diff({with_sites("site:Read (t.cc:41)", 9)},
                                 {with_sites("site:Read (t.cc:52)", 10)});
  EXPECT_THAT(Names(grown.deployments[0].children[0].children),
              ElementsAre("site:Read (t.cc:52)"));
  // These are not lines.
  const std::pair<const char*, const char*> kOthers[] = {
      {"operator() (int)", "operator() (char)"},
      {"f (t.cc:)", "f (u.cc:)"},
      {"f (a:b)", "f (a:c)"},
      {"f (a:1x", "f (b:1y"},
      {"f:1)", "f:2)"}};
  for (const auto& [one, other] : kOthers) {
    EXPECT_THAT(Names(Diff({with_sites(one, 9)}, {with_sites(other, 9)})
                          .deployments[0]
                          .children[0]
                          .children),
                testing::UnorderedElementsAre(one, other));
  }
}

TEST(ProfileDiffTest, TellsOfChildrenAndThreads) {
  const ProfileDiff diff =
      Diff({"label: '//a:b' " + Benchmark("BM_X", 1)},
           {"label: '//a:b' " +
            Benchmark("BM_X", 1,
                      " forked_process_count: 2"
                      " order_dependent: PEAK_LIVE_ABSOLUTE_USABLE_BYTES")});
  ASSERT_EQ(diff.deployments.size(), 1);
  EXPECT_THAT(diff.deployments[0].children[0].notes,
              ElementsAre(HasSubstr("child processes: 0 -> 2"),
                          HasSubstr("threads: none -> some")));
}

TEST(ProfileDiffTest, GrowthDoesNotOverflow) {
  DiffNode node;
  MetricChange change;
  change.before = INT64_MIN;
  change.after = INT64_MAX;
  EXPECT_EQ(ComputeGrowth(node, change), INT64_MAX);
  std::swap(change.before, change.after);
  EXPECT_EQ(ComputeGrowth(node, change), INT64_MIN);
}

}  // namespace
}  // namespace footprint

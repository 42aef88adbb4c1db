// Tests what merged_calls.h and run_flame_graph.h promise.

#include "footprint/profiling/run_page/merged_calls.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/run_page/run_flame_graph.h"
#include "footprint/profiling/runs/amounts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

int64_t AddUp(const FlameGraph& graph, size_t measure) {
  int64_t sum = 0;
  for (const FlameGraph::Node& node : graph.nodes) {
    sum += node.own_values[measure];
  }
  return sum;
}

// Returns each node's own value by the names on the path to it.
std::map<std::string, int64_t> ByPath(const FlameGraph& graph, size_t measure) {
  std::vector<std::string> paths;
  std::map<std::string, int64_t> values;
  for (const FlameGraph::Node& node : graph.nodes) {
    paths.push_back(
        (node.parent < 0 ? "" : paths[static_cast<size_t>(node.parent)]) + "/" +
        node.name);
    if (node.own_values[measure] != 0) {
      values[paths.back()] += node.own_values[measure];
    }
  }
  return values;
}

// Computes the same values site by site.
std::map<std::string, int64_t> NaivePeaks(const MeasuredRun& run) {
  std::map<std::string, int64_t> values;
  for (const MeasuredImage& image : run.images()) {
    for (const SiteAmounts& site : image.sites()) {
      std::string path =
          site.call() == 0 ? "/[before the agent began]" : std::string();
      for (uint32_t call = site.call(); call != 0;
           call = run.calls(static_cast<int>(call) - 1).parent()) {
        const Call& each = run.calls(static_cast<int>(call) - 1);
        path =
            "/" + run.frames(static_cast<int>(each.frame())).function() + path;
      }
      if (run.images_size() > 1) {
        path = "/" + image.command_line(0) + path;
      }
      if (site.at_peak().bytes() != 0) values[path] += site.at_peak().bytes();
    }
  }
  return values;
}

TEST(MergedCallsTest, HoldsEachStackOfAnyRun) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const FlameGraph graph = RunFlameGraph(run, 1'000'000);
    // "others" has calls with less than a ten-thousandth of the sum.
    std::map<std::string, int64_t> found = ByPath(graph, 0);
    const std::map<std::string, int64_t> expected = NaivePeaks(run);
    int64_t sum = 0;
    for (const auto& [path, bytes] : expected) sum += bytes;
    EXPECT_EQ(AddUp(graph, 0), sum) << seed;
    for (const auto& [path, bytes] : expected) {
      if (bytes * 10'000 >= sum) {
        EXPECT_EQ(found[path], bytes) << seed << " " << path;
      }
    }
  }
}

TEST(MergedCallsTest, AddsUpHoweverLittleRoomThereIs) {
  const MeasuredRun run = LargeRun(20'000, /*seed=*/3);
  std::vector<int64_t> sums(3);
  for (const SiteAmounts& site : run.images(0).sites()) {
    sums[0] += site.at_peak().bytes();
    sums[1] += site.allocated().bytes();
    sums[2] += site.at_end().bytes();
  }
  for (const size_t most_bytes : {0, 1, 200, 5'000, 100'000, 10'000'000}) {
    const FlameGraph graph = RunFlameGraph(run, most_bytes);
    for (size_t measure = 0; measure < sums.size(); ++measure) {
      EXPECT_EQ(AddUp(graph, measure), sums[measure]) << most_bytes;
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      EXPECT_LT(graph.nodes[i].parent, static_cast<int>(i));
      for (const int64_t value : graph.nodes[i].own_values) {
        EXPECT_GE(value, 0);
      }
    }
    EXPECT_LE(DrawFlameGraph(graph).size(), 1.5 * most_bytes + 3'000)
        << most_bytes;
  }
}

// Calls that are too small are merged at the nearest call around them.
TEST(MergedCallsTest, WhatCannotBeSeenIsAmongTheOthersOfItsCaller) {
  MeasuredRun run = NestedRun();
  // Fit has calls with a millionth of the bytes, and no others.
  for (const char* name : {"Little", "Less"}) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(name);
    Call* const call = run.add_calls();
    call->set_parent(2);
    call->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
  }
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  const auto add_site = [image](uint32_t call, int64_t bytes) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(bytes);
  };
  add_site(2, 1'000'000'000);
  add_site(static_cast<uint32_t>(run.calls_size()) - 1, 1000);
  add_site(static_cast<uint32_t>(run.calls_size()), 500);
  EXPECT_EQ(ByPath(RunFlameGraph(run, 100'000), 0),
            (std::map<std::string, int64_t>{{"/main/Fit", 1'000'000'000},
                                            {"/main/Fit/others", 1500}}));
}

// In the tree of Python alone, native calls have no node, whether a Python
// function called them or not.
TEST(MergedCallsTest, OfPythonAloneNativeCallsAreTheirCallers) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  const auto add_call = [&](const char* name, CodeFrame::Kind kind,
                            uint32_t parent) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function(name);
    frame->set_kind(kind);
    Call* const call = run.add_calls();
    call->set_parent(parent);
    call->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(run.calls_size()));
    site->mutable_at_peak()->set_bytes(int64_t{1} << run.calls_size());
    return static_cast<uint32_t>(run.calls_size());
  };
  const uint32_t start = add_call("_start", CodeFrame::NATIVE, 0);
  const uint32_t eval = add_call("eval", CodeFrame::INTERPRETER, start);
  const uint32_t script = add_call("<module>", CodeFrame::PYTHON, eval);
  const uint32_t zeros = add_call("zeros", CodeFrame::NATIVE, script);
  add_call("malloc", CodeFrame::ALLOCATOR, zeros);
  const uint32_t fit = add_call("fit", CodeFrame::PYTHON, zeros);
  add_call("gemm", CodeFrame::NATIVE, fit);
  EXPECT_TRUE(HasPythonFrames(run));
  EXPECT_EQ(ByPath(RunFlameGraph(run, 100'000, FlameFrames::kPython), 0),
            (std::map<std::string, int64_t>{
                {"/[outside of Python]", (1 << 1) + (1 << 2)},
                {"/<module>", (1 << 3) + (1 << 4) + (1 << 5)},
                {"/<module>/fit", (1 << 6) + (1 << 7)}}));
  EXPECT_EQ(ByPath(RunFlameGraph(run, 100'000), 0), NaivePeaks(run));
  // Another program that the script started has only native calls.
  image->mutable_sites()->DeleteSubrange(2, image->sites_size() - 2);
  EXPECT_EQ(ByPath(RunFlameGraph(run, 100'000, FlameFrames::kPython), 0),
            NaivePeaks(run));
}

TEST(MergedCallsTest, OfPythonAloneEveryMeasureHasTheSameSum) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const FlameGraph all = RunFlameGraph(run, 5'000);
    const FlameGraph python = RunFlameGraph(run, 5'000, FlameFrames::kPython);
    for (size_t m = 0; m < all.measures.size(); ++m) {
      EXPECT_EQ(AddUp(python, m), AddUp(all, m)) << seed;
    }
  }
}

// The moments are those of the largest process. For the others, their last
// earlier moment counts.
TEST(MergedCallsTest, HoldsEachMoment) {
  MeasuredRun run = FullRun();
  const FlameGraph full = RunFlameGraph(run, 100'000);
  std::vector<std::string> names;
  for (const FlameGraph::Measure& measure : full.measures) {
    if (measure.moment_ns == FlameGraph::Measure::kAll) continue;
    names.push_back(measure.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"live after 0.000 s",
                                             "live after 1.000 s",
                                             "live after 2.000 s"}));
  const size_t first = full.measures.size() - 3;
  EXPECT_EQ(full.measures[first + 1].moment_ns, 1'000'000'000);
  EXPECT_EQ(AddUp(full, first), 0);
  EXPECT_EQ(AddUp(full, first + 1), 2 << 20);
  EXPECT_EQ(AddUp(full, first + 2), 7 << 20);
  for (const auto& [path, bytes] : ByPath(full, first + 2)) {
    EXPECT_TRUE(bytes == 2 << 20 || bytes == 5 << 20) << path;
  }

  // The child began before the second moment and ended before the third.
  MeasuredImage* const child = run.mutable_images(1);
  const int64_t begin_ns = run.images(0).begin_time_ns();
  LiveMoment* const moment = child->add_moments();
  moment->set_time_ns(begin_ns + 500'000'000);
  moment->add_calls(3);
  moment->add_bytes(1000);
  child->set_end_time_ns(begin_ns + 1'500'000'000);
  const FlameGraph both = RunFlameGraph(run, 100'000);
  EXPECT_EQ(AddUp(both, first), 0);
  EXPECT_EQ(AddUp(both, first + 1), (2 << 20) + 1000);
  EXPECT_EQ(AddUp(both, first + 2), 7 << 20);
}

// The others are one node, however large they are together.
// A record may say anything; sums of its figures stay at the most that 64 bits
// hold.
TEST(MergedCallsTest, SumsOfHugeFiguresStayAtTheMost) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  MeasuredRun run = FullRun();
  for (MeasuredImage& image : *run.mutable_images()) {
    for (SiteAmounts& site : *image.mutable_sites()) {
      for (Amount* amount : {site.mutable_at_peak(), site.mutable_allocated(),
                             site.mutable_at_end()}) {
        amount->set_bytes(kMost);
      }
    }
    for (CopyAmounts& copy : *image.mutable_copies()) {
      copy.mutable_copied()->set_bytes(kMost);
    }
    for (ProcessorTime& time : *image.mutable_processor_time()) {
      time.set_native_ns(kMost);
      time.set_system_ns(kMost);
    }
    for (LiveMoment& moment : *image.mutable_moments()) {
      for (int64_t& bytes : *moment.mutable_bytes()) bytes = kMost;
    }
  }
  for (const size_t most_bytes : {size_t{100}, size_t{1} << 20}) {
    const FlameGraph graph = RunFlameGraph(run, most_bytes);
    std::vector<int64_t> highest(graph.measures.size());
    for (const FlameGraph::Node& node : graph.nodes) {
      for (size_t m = 0; m < highest.size(); ++m) {
        EXPECT_GE(node.own_values[m], 0) << node.name;
        EXPECT_GE(node.sigmas[m], 0) << node.name;
        highest[m] = std::max(highest[m], node.own_values[m]);
      }
    }
    // One of the moments has no bytes.
    EXPECT_THAT(highest, testing::Each(testing::AnyOf(0, kMost)));
    EXPECT_GE(std::count(highest.begin(), highest.end(), kMost), 7)
        << most_bytes;
  }
}

TEST(MergedCallsTest, OthersStandOnce) {
  MergedCalls merged(/*measure_count=*/1);
  const uint32_t fit = merged.Child(0, "Fit", "train", CodeOwner::kProgram);
  merged.Add(merged.Others(fit), 0, 60'000, /*variance=*/0);
  merged.Add(fit, 0, 40'000, /*variance=*/0);
  merged.Add(merged.Child(fit, "Tiny", "train", CodeOwner::kProgram), 0, 1,
             /*variance=*/0);
  FlameGraph graph;
  graph.nodes = merged.LargestNodes(/*most_bytes=*/1000);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(ByPath(graph, 0), (std::map<std::string, int64_t>{
                                  {"/Fit", 40'000}, {"/Fit/others", 60'001}}));
}

// A call's sigma is that of the sum of all below it, not a sum of sigmas.
TEST(MergedCallsTest, EachCallHasTheSigmaOfItsSum) {
  const MeasuredRun run = FullRun();
  std::map<std::string, Amount> of_commands;
  Amount whole;
  for (const MeasuredImage& image : run.images()) {
    for (const SiteAmounts& site : image.sites()) {
      AddTo(site.at_peak(), &of_commands[image.command_line(1)]);
      AddTo(site.at_peak(), &whole);
    }
  }
  ASSERT_EQ(of_commands.size(), 2u);
  size_t found_count = 0;
  for (const FlameGraph::Node& node : RunFlameGraph(run, 100'000).nodes) {
    for (const auto& [command, sum] : of_commands) {
      if (node.parent >= 0 || !absl::StrContains(node.name, command)) continue;
      EXPECT_DOUBLE_EQ(node.sigmas[0], SigmaBytes(sum)) << node.name;
      ++found_count;
    }
  }
  EXPECT_EQ(found_count, 2u);
  const FlameGraph others = RunFlameGraph(run, /*most_bytes=*/0);
  ASSERT_EQ(others.nodes.size(), 1u);
  EXPECT_DOUBLE_EQ(others.nodes[0].sigmas[0], SigmaBytes(whole));
}

TEST(MergedCallsTest, PutsLinesOfAFunctionTogether) {
  MeasuredRun run;
  for (const int line : {3, 4}) {
    CodeFrame* const frame = run.add_frames();
    frame->set_function("Fit");
    frame->set_line(line);
    run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
  }
  MeasuredImage* const image = run.add_images();
  image->set_has_sites(true);
  for (const uint32_t call : {1, 2}) {
    SiteAmounts* const site = image->add_sites();
    site->set_call(call);
    site->mutable_at_peak()->set_bytes(10 * call);
  }
  const FlameGraph graph = RunFlameGraph(run, 1'000);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].own_values[0], 30);
}

TEST(MergedCallsTest, HasTheMeasuresThatTheRunHas) {
  const FlameGraph full = RunFlameGraph(FullRun(), 100'000);
  ASSERT_EQ(full.measures.size(), 5u + 3) << "three are of moments";
  EXPECT_EQ(full.measures[3].name, "copied");
  EXPECT_EQ(AddUp(full, 3), 25 << 20);
  EXPECT_EQ(full.measures[4].unit, FlameGraph::Measure::Unit::kNanoseconds);
  EXPECT_EQ(AddUp(full, 4), 2'750'000'000);
  MeasuredRun run = FullRun();
  for (MeasuredImage& image : *run.mutable_images()) {
    image.clear_moments();
    image.clear_copies();
    image.clear_processor_time();
    image.set_has_totals(false);
  }
  EXPECT_EQ(RunFlameGraph(run, 100'000).measures.size(), 2u);
}

TEST(MergedCallsTest, ComparesCallByCall) {
  const FlameGraph graph =
      ComparisonFlameGraph(FullRun(), FullRunLater(), 100'000);
  EXPECT_TRUE(graph.is_comparison);
  EXPECT_EQ(AddUp(graph, 1) - AddUp(graph, 0), (2 << 20) + 1000);
  for (const FlameGraph::Node& node : graph.nodes) {
    if (node.name == "malloc" && node.own_values[0] == 7 << 20) {
      EXPECT_EQ(node.own_values[1], 9 << 20);
    }
  }
}

TEST(MergedCallsTest, ShortensLongNamesBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "\u00e9";
  const FlameGraph graph = RunFlameGraph(RunNamed(name), 1'000'000);
  // The limit leaves 157 bytes, and the last is half a character.
  const std::string shortened = name.substr(0, 156) + "...";
  size_t count = 0;
  for (const FlameGraph::Node& node : graph.nodes) {
    EXPECT_LE(node.name.size(), 160u);
    if (node.name == shortened) ++count;
  }
  EXPECT_GT(count, 1u);
}

}  // namespace
}  // namespace footprint

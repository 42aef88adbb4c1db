// Checks that plans stay as low and searches as short as recorded: heights and
// decisions of every method that searches, for requests of every kind, under
// small limits.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/beam_sweep.h"
#include "footprint/trainer_manager/planner/exact_search.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/outward_sweep.h"
#include "footprint/trainer_manager/planner/placement_problem.h"
#include "footprint/trainer_manager/planner/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using trainer_manager_internal::BeamSweep;
using trainer_manager_internal::ComputeHeight;
using trainer_manager_internal::CornerOrder;
using trainer_manager_internal::ExactSearch;
using trainer_manager_internal::ItemOrder;
using trainer_manager_internal::MakePlacementProblem;
using trainer_manager_internal::PlacementProblem;
using trainer_manager_internal::PlaceOutwards;
using trainer_manager_internal::SweepEffort;

std::vector<TensorRequest> MakeRequests(int kind) {
  switch (kind) {
    case 0:
      return CutPerfectPacking(40, 1000, CutStyle::kPinwheel, 1).requests;
    case 1:
      return CutPerfectPacking(60, 5000, CutStyle::kGuillotine, 2).requests;
    case 2:
      return CutLoosePacking(50, 3000, CutStyle::kPinwheel, 3).requests;
    case 3:
      return CutLoosePacking(70, 3000, CutStyle::kGuillotine, 4).requests;
    case 4:
      return SpreadRequests(LifespanShape::kSawtooth, 150, 5);
    case 5:
      return SpreadRequests(LifespanShape::kUniform, 60, 6);
    case 6:
      return TrainingRequests(NetworkShape::kResidual, 120, 7);
    case 7:
      return TrainingRequests(NetworkShape::kUNet, 120, 8);
    case 8:
      return RandomRequests(40, 64, 9);
    default:
      return RandomRequests(60, 1, 10);
  }
}

struct Found {
  int64_t height_bytes;
  int64_t nodes;
};

Found PlanBy(PlanMethod method, const std::vector<TensorRequest>& requests,
             int64_t node_limit = 20'000) {
  PlanOptions options;
  options.method = method;
  options.node_limit = node_limit;
  options.trial_limit = 100;
  const absl::StatusOr<MemoryPlan> plan = PlanMemory(requests, options);
  EXPECT_THAT(plan, IsOk());
  if (!plan.ok()) return {0, 0};
  return {plan->height_bytes, plan->search_nodes};
}

Found PlanByOutwardSweeps(const std::vector<TensorRequest>& requests) {
  const PlacementProblem problem = MakePlacementProblem(requests);
  SweepEffort effort;
  effort.target_height = ComputeLowerBound(requests).bytes;
  effort.stack_limit = 3;
  effort.sweep_limit = 3;
  return {ComputeHeight(problem, PlaceOutwards(problem, effort)), 0};
}

// Returns the first of several limits above the bound that a sweep meets.
Found PlanByBeamSweeps(const std::vector<TensorRequest>& requests) {
  const PlacementProblem problem = MakePlacementProblem(requests);
  const int64_t bound = ComputeLowerBound(requests).bytes;
  BeamSweep sweep(&problem);
  BeamSweep::Effort effort;
  effort.width = 8;
  for (const int64_t percent : {0, 1, 2, 4, 8, 16, 32, 64, 128, 256}) {
    effort.height_limit = bound + bound * percent / 100;
    if (sweep.Run(effort)) break;
  }
  return {effort.height_limit, sweep.node_count()};
}

std::vector<Found> PlanByAll(const std::vector<TensorRequest>& requests) {
  return {PlanBy(PlanMethod::kHillClimb, requests),
          PlanBy(PlanMethod::kExact, requests),
          PlanBy(PlanMethod::kPortfolio, requests),
          PlanByOutwardSweeps(requests), PlanByBeamSweeps(requests)};
}

// Results by kind and method. Update them when they get better.
constexpr Found kRecorded[][5] = {
    {{1218, 0}, {1000, 123}, {1000, 123}, {1360, 0}, {1320, 1347}},
    {{5296, 0}, {5000, 60}, {5000, 60}, {5447, 0}, {5200, 985}},
    {{3175, 0}, {3000, 765}, {3000, 765}, {4967, 0}, {3240, 1428}},
    {{3148, 0}, {3000, 81}, {3000, 81}, {3849, 0}, {3480, 1668}},
    {{4393728, 0},
     {4333056, 20000},
     {3919072, 20000},
     {4358464, 0},
     {3901067, 1868}},
    {{3700288, 0}, {3589888, 2634}, {3589888, 0}, {3775104, 0}, {3625786, 436}},
    {{2651264, 0}, {2630016, 1016}, {2630016, 0}, {2630016, 0}, {2630016, 752}},
    {{2731520, 0}, {2731520, 648}, {2731520, 0}, {2731520, 0}, {2731520, 760}},
    {{54, 0}, {75, 20000}, {56, 20000}, {67, 0}, {68, 179}},
    {{105, 0}, {105, 159}, {105, 0}, {105, 0}, {105, 184}},
};

TEST(PlanQualityTest, NoPlanGetsHigherAndNoSearchLonger) {
  int kind = 0;
  for (const auto& recorded : kRecorded) {
    const std::vector<Found> found = PlanByAll(MakeRequests(kind));
    ASSERT_EQ(found.size(), std::size(recorded));
    for (size_t method = 0; method < found.size(); ++method) {
      const std::string now = absl::StrCat(
          "kind ", kind, ", method ", method, " is now {",
          found[method].height_bytes, ", ", found[method].nodes, "}");
      EXPECT_LE(found[method].height_bytes, recorded[method].height_bytes)
          << now;
      EXPECT_LE(found[method].nodes, recorded[method].nodes) << now;
    }
    ++kind;
  }
}

// Styles of the exact search. Each takes another path, and none may become
// longer.
struct Way {
  CornerOrder corner_order;
  ItemOrder item_order;
  uint64_t seed;
};

constexpr Way kWays[] = {
    {CornerOrder::kFewestThenLowest, ItemOrder::kByArea, 0},
    {CornerOrder::kFewestThenTightest, ItemOrder::kByLifespan, 1},
    {CornerOrder::kForcedThenLowest, ItemOrder::kBySize, 2},
    {CornerOrder::kForcedThenFirst, ItemOrder::kByLifespan, 3},
    {CornerOrder::kForcedThenLast, ItemOrder::kByArea, 4},
    {CornerOrder::kFewestThenLowest, ItemOrder::kBySize, 0},
};

// Returns the decisions until the search finds a plan at the height that was
// cut.
int64_t NodesBy(const Way& way, int64_t tensors, uint64_t seed) {
  const PerfectPacking packing =
      CutPerfectPacking(tensors, 5000, CutStyle::kPinwheel, seed);
  const PlacementProblem problem = MakePlacementProblem(packing.requests);
  ExactSearch search(&problem);
  ExactSearch::Effort effort;
  effort.node_limit = 20'000;
  effort.corner_order = way.corner_order;
  effort.item_order = way.item_order;
  effort.seed = way.seed;
  search.Search(packing.height_bytes, effort);
  return search.node_count();
}

// Decisions by packing and style. Update them when they get fewer.
constexpr int64_t kRecordedNodes[][std::size(kWays)] = {
    {212, 110, 123, 118, 99, 239}, {87, 89, 279, 89, 126, 139},
    {86, 87, 171, 92, 96, 126},    {218, 88, 17471, 90, 6211, 5028},
    {86, 85, 316, 89, 383, 102},   {114, 88, 121, 83, 93, 117},
    {86, 86, 372, 84, 150, 143},   {83, 89, 136, 114, 177, 87},
};

TEST(PlanQualityTest, NoWayOfTheExactSearchGetsLonger) {
  uint64_t seed = 20;
  for (const auto& recorded : kRecordedNodes) {
    for (size_t way = 0; way < std::size(kWays); ++way) {
      const int64_t now = NodesBy(kWays[way], 80, seed);
      EXPECT_LE(now, recorded[way])
          << "packing " << seed << ", way " << way << " is now " << now;
    }
    ++seed;
  }
}

// Returns requests that the first turns of the search do not finish.
std::vector<TensorRequest> MakeHardRequests(uint64_t seed) {
  return seed % 2 == 0
             ? CutPerfectPacking(250, 1 << 20, CutStyle::kPinwheel, seed)
                   .requests
             : RandomRequests(60, 64, seed);
}

// Plans by seed. Update them when plans get lower or searches shorter.
constexpr Found kRecordedPlans[] = {
    {1048576, 405},  {99, 20000},  {1048576, 2001}, {72, 20000},
    {1048576, 289},  {77, 20000},  {1048576, 2001}, {136, 20000},
    {1048576, 2001}, {56, 20000},  {1048576, 318},  {107, 20000},
    {1048576, 2001}, {122, 20000}, {1048576, 2001}, {52, 0},
    {1048576, 2001}, {68, 20000},  {1048576, 2001}, {86, 20000},
    {1048576, 344},  {57, 20000},  {1048576, 272},  {98, 20000},
};

TEST(PlanQualityTest, NoTurnOfThePortfolioIsLost) {
  uint64_t seed = 0;
  for (const Found& recorded : kRecordedPlans) {
    const Found now = PlanBy(PlanMethod::kPortfolio, MakeHardRequests(seed));
    const std::string line = absl::StrCat(
        "seed ", seed, " is now {", now.height_bytes, ", ", now.nodes, "}");
    EXPECT_LE(now.height_bytes, recorded.height_bytes) << line;
    EXPECT_LE(now.nodes, recorded.nodes) << line;
    ++seed;
  }
}

// The limit is long enough for beam sweeps to follow the exact search.
constexpr Found kRecordedLongPlans[] = {
    {4058368, 0},     {3868160, 200000}, {3955008, 0},    {3807936, 17494},
    {4203456, 72220}, {4306432, 0},      {3705344, 0},    {4030592, 0},
    {3841344, 0},     {4321344, 0},      {3405504, 1942}, {3830848, 0},
    {4459712, 3216},  {3758656, 58856},
};

TEST(PlanQualityTest, NoTurnOfTheBeamsIsLost) {
  uint64_t seed = 30;
  for (const Found& recorded : kRecordedLongPlans) {
    const Found now =
        PlanBy(PlanMethod::kPortfolio,
               SpreadRequests(LifespanShape::kSawtooth, 120, seed), 200'000);
    const std::string line = absl::StrCat(
        "seed ", seed, " is now {", now.height_bytes, ", ", now.nodes, "}");
    EXPECT_LE(now.height_bytes, recorded.height_bytes) << line;
    EXPECT_LE(now.nodes, recorded.nodes) << line;
    ++seed;
  }
}

}  // namespace
}  // namespace footprint

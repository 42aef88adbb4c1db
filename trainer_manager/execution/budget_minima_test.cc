// Tests budgets of networks on which the search was not tuned.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <limits>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/choice_bound.h"
#include "footprint/trainer_manager/execution/plan_search.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The least bytes of the greedy path alone, without and with a file, by seed
// (print_budget_minima as of 2026-11-22).
struct GreedyMinimum {
  int64_t bytes;
  int64_t bytes_with_file;
};
constexpr std::array<GreedyMinimum, 200> kGreedyMinima = {{
    {2148, 2148}, {24708, 24708},   {12272, 10704}, {496380, 422652},
    {436, 436},   {60368, 48080},   {28176, 23328}, {150580, 150580},
    {1428, 1428}, {52108, 52108},   {21768, 21768}, {213884, 213884},
    {1332, 1332}, {70328, 70328},   {25576, 23656}, {17836, 17836},
    {540, 540},   {77052, 77052},   {29112, 28792}, {109284, 102436},
    {476, 476},   {47184, 37968},   {19032, 17592}, {77388, 67148},
    {828, 796},   {46216, 39616},   {28248, 26568}, {118092, 102732},
    {2356, 2356}, {54692, 54692},   {17520, 15152}, {120036, 110884},
    {1268, 1268}, {44020, 44020},   {27040, 26920}, {196380, 196380},
    {1620, 1620}, {27908, 21764},   {23188, 23188}, {40548, 35940},
    {2036, 1940}, {27332, 22648},   {20504, 19064}, {74764, 74764},
    {1140, 1140}, {61328, 51536},   {23112, 22792}, {66868, 58708},
    {1844, 1652}, {43364, 43004},   {10828, 10108}, {71148, 71140},
    {1596, 1596}, {101808, 86448},  {39156, 34500}, {34084, 34084},
    {1876, 1780}, {43348, 38740},   {30144, 27592}, {268700, 268700},
    {820, 756},   {47524, 45924},   {32936, 31016}, {178892, 154316},
    {1812, 1812}, {53092, 51436},   {13252, 12052}, {181708, 181708},
    {1652, 1652}, {114180, 103588}, {20056, 19096}, {361740, 308492},
    {436, 436},   {20696, 18272},   {25000, 21192}, {110956, 95596},
    {2052, 2052}, {42872, 42864},   {17684, 16964}, {222156, 191436},
    {948, 948},   {45112, 45112},   {38036, 35316}, {182972, 158396},
    {1876, 1876}, {82320, 57752},   {16984, 16984}, {205372, 205372},
    {1428, 1428}, {40312, 40312},   {42024, 38184}, {45156, 45156},
    {476, 476},   {50832, 40520},   {33284, 31188}, {65316, 58468},
    {1524, 1524}, {22916, 22916},   {20040, 19560}, {114404, 114404},
    {732, 660},   {55876, 53188},   {21576, 21576}, {255596, 255596},
    {1268, 1268}, {78480, 64656},   {23252, 21812}, {153828, 140068},
    {988, 988},   {31792, 27920},   {15232, 13552}, {65300, 57620},
    {1332, 1332}, {45200, 39056},   {28024, 24184}, {180580, 156004},
    {1268, 1172}, {48224, 39028},   {15632, 12704}, {501092, 427364},
    {700, 700},   {67004, 54716},   {32964, 30564}, {183076, 157796},
    {1108, 1108}, {56196, 56196},   {19512, 19512}, {178148, 155620},
    {1700, 1700}, {64324, 59716},   {19464, 16848}, {142476, 142476},
    {1620, 1620}, {32164, 31300},   {27476, 25316}, {247660, 210860},
    {2500, 2500}, {57184, 46432},   {33176, 29816}, {9492, 9492},
    {2068, 2068}, {49636, 49636},   {17680, 15152}, {57340, 51196},
    {1012, 1012}, {25824, 22560},   {43056, 40488}, {90940, 78652},
    {1124, 1124}, {45572, 39428},   {12820, 10852}, {59244, 54156},
    {788, 756},   {23364, 23364},   {14792, 14312}, {74220, 69676},
    {1972, 1972}, {83216, 70928},   {25768, 25496}, {257260, 220396},
    {1396, 1332}, {136548, 105828}, {26532, 26532}, {123900, 119868},
    {1500, 1500}, {18016, 18016},   {20812, 16444}, {190204, 177980},
    {1204, 1204}, {73320, 42600},   {27672, 23832}, {129980, 113084},
    {2116, 2020}, {27140, 26964},   {28840, 28840}, {54060, 54060},
    {476, 476},   {88820, 87472},   {27284, 26084}, {208580, 180996},
    {2004, 2004}, {16996, 15256},   {15928, 15928}, {218396, 187708},
    {820, 756},   {22332, 22332},   {24728, 23288}, {118092, 102732},
    {1364, 1364}, {60964, 60376},   {21548, 18940}, {298468, 298468},
    {1364, 1364}, {57604, 56600},   {26564, 26564}, {91548, 91548},
    {1780, 1780}, {63476, 61316},   {25368, 25368}, {125484, 125484},
}};
constexpr uint32_t kParts = 8;

ResolvedNetwork Resolve(const Network& network) {
  const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  return *resolved;
}

int64_t PlannedBytes(const ResolvedNetwork& network, int64_t budget_bytes,
                     bool may_swap) {
  MemoryOptions options;
  options.budget_bytes = budget_bytes;
  const auto plan =
      PlanSearch(network, ReferenceMath(), options, 1, may_swap).Run();
  EXPECT_THAT(plan, IsOk());
  return plan->planned_bytes();
}

// The seeds are in parts that run in parallel.
class BudgetMinimaTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(BudgetMinimaTest, NoneIsAboveTheGreedyOnes) {
  std::vector<double> gaps;
  int lower = 0;
  for (uint32_t seed = GetParam(); seed < kGreedyMinima.size();
       seed += kParts) {
    const ResolvedNetwork network = Resolve(RandomNetwork(seed));
    const int64_t bytes = PlannedBytes(network, 0, false);
    EXPECT_LE(bytes, kGreedyMinima[seed].bytes) << seed;
    EXPECT_LE(PlannedBytes(network, 0, true),
              kGreedyMinima[seed].bytes_with_file)
        << seed;
    const MemoryOptions options;
    const auto bound =
        BoundAllChoices(PlanBuilder(network, ReferenceMath(), options, 1));
    ASSERT_THAT(bound, IsOk());
    EXPECT_LE(*bound, bytes) << seed;
    lower += bytes < kGreedyMinima[seed].bytes;
    gaps.push_back(static_cast<double>(bytes) / static_cast<double>(*bound));
  }
  std::sort(gaps.begin(), gaps.end());
  std::cout << "minimum by bound: median " << gaps[gaps.size() / 2]
            << ", largest " << gaps.back() << "; " << lower << " of "
            << gaps.size() << " are below the greedy ones\n";
  EXPECT_LT(gaps[gaps.size() / 2], 1.25);
}

INSTANTIATE_TEST_SUITE_P(Parts, BudgetMinimaTest, ::testing::Range(0u, kParts));

// The greedy path alone gets no lower than 98.6 % without a file, and 82.1 %
// with one.
TEST(ForeignNetworksTest, AResidualNetworkNeedsNoFileFor82Percent) {
  const ResolvedNetwork network = Resolve(ResidualImageClassifier());
  const int64_t free =
      PlannedBytes(network, std::numeric_limits<int64_t>::max(), false);
  EXPECT_EQ(free, 2608668);
  EXPECT_LE(PlannedBytes(network, 0, false), free * 82 / 100);
}

TEST(ForeignNetworksTest, AnAttentionClassifierNeedsHalf) {
  const ResolvedNetwork network = Resolve(AttentionClassifier());
  const int64_t free =
      PlannedBytes(network, std::numeric_limits<int64_t>::max(), false);
  EXPECT_EQ(free, 1599772);  // the greedy path: 936,220
  EXPECT_LE(PlannedBytes(network, 0, false), free / 2);
}

}  // namespace
}  // namespace footprint

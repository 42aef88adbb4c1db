#include "footprint/gates/statistics/rank_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "footprint/gates/statistics/distributions.h"

namespace footprint {
namespace {

// Ranks are doubled, so that the mean of two is a whole number.
struct RankedSamples {
  std::vector<size_t> doubled_ranks;  // of all values, in ascending order
  size_t higher_sum = 0;              // sum of the ranks of `higher`
  double tie_sum = 0;                 // t^3 - t over each group of t ties
};

RankedSamples RankAll(absl::Span<const double> lower,
                      absl::Span<const double> higher) {
  // Value, and whether it is of `higher`.
  std::vector<std::pair<double, bool>> values;
  values.reserve(lower.size() + higher.size());
  for (double value : lower) values.emplace_back(value, false);
  for (double value : higher) values.emplace_back(value, true);
  std::sort(values.begin(), values.end());
  RankedSamples ranked;
  for (size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && values[end].first == values[begin].first) {
      ++end;
    }
    // The doubled mean of the ranks begin + 1 to end.
    const size_t doubled = begin + 1 + end;
    const auto ties = static_cast<double>(end - begin);
    ranked.tie_sum += ties * ties * ties - ties;
    for (size_t i = begin; i < end; ++i) {
      ranked.doubled_ranks.push_back(doubled);
      if (values[i].second) ranked.higher_sum += doubled;
    }
  }
  return ranked;
}

}  // namespace

double ExactRankTestPValue(absl::Span<const double> lower,
                           absl::Span<const double> higher) {
  const RankedSamples ranked = RankAll(lower, higher);
  const size_t total = std::accumulate(ranked.doubled_ranks.begin(),
                                       ranked.doubled_ranks.end(), size_t{0});
  // ways[k][s] is the number of ways to choose k of the ranks so far with the
  // sum s.
  std::vector<std::vector<double>> ways(higher.size() + 1,
                                        std::vector<double>(total + 1));
  ways[0][0] = 1;
  size_t chosen = 0;
  size_t reached = 0;
  for (size_t rank : ranked.doubled_ranks) {
    chosen = std::min(chosen + 1, higher.size());
    reached += rank;
    for (size_t k = chosen; k > 0; --k) {
      for (size_t sum = reached; sum >= rank; --sum) {
        ways[k][sum] += ways[k - 1][sum - rank];
      }
    }
  }
  const std::vector<double>& last = ways[higher.size()];
  const double all = std::accumulate(last.begin(), last.end(), 0.0);
  const auto from =
      last.begin() + static_cast<std::ptrdiff_t>(ranked.higher_sum);
  return std::accumulate(from, last.end(), 0.0) / all;
}

double ApproximateRankTestPValue(absl::Span<const double> lower,
                                 absl::Span<const double> higher) {
  const RankedSamples ranked = RankAll(lower, higher);
  const auto m = static_cast<double>(lower.size());
  const auto n = static_cast<double>(higher.size());
  const double count = m + n;
  const double u =
      0.5 * static_cast<double>(ranked.higher_sum) - n * (n + 1) / 2;
  const double variance =
      m * n / 12 * (count + 1 - ranked.tie_sum / (count * (count - 1)));
  if (!(variance > 0)) return 1;  // all values are equal
  const double z = (u - m * n / 2 - 0.5) / std::sqrt(variance);
  return NormalUpperTail(z);
}

double RankTestPValue(absl::Span<const double> lower,
                      absl::Span<const double> higher) {
  return lower.size() + higher.size() <= kMostExactRanks
             ? ExactRankTestPValue(lower, higher)
             : ApproximateRankTestPValue(lower, higher);
}

}  // namespace footprint

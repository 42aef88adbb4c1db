// Prints the least budget in which each network trains, without and with a
// file, beside the bound over all choices and the search's processor time. The
// networks are random ones from seeds, networks of other projects and the
// reference networks: `bazel run -c opt
// //trainer_manager/execution:print_budget_minima`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/text/text_table.h"
#include "footprint/trainer_manager/execution/choice_bound.h"
#include "footprint/trainer_manager/execution/plan_search.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"

namespace {

using footprint::TextTable;

constexpr auto kFigures = TextTable::kFigures;

TextTable MinimaTable() {
  return TextTable({{"network", TextTable::kWords, 20},
                    {"no budget", kFigures, 10},
                    {"minimum", kFigures, 10},
                    {"with a file", kFigures, 11},
                    {"bound", kFigures, 10},
                    {"seconds", kFigures, 7},
                    {"with a file", kFigures, 11}});
}

struct Found {
  int64_t bytes = 0;
  double seconds = 0;
};

class Minima {
 public:
  void Print(const std::string& name, const footprint::Network& network) {
    const auto resolved =
        ResolveNetwork(network, footprint::NetworkMode::kTraining);
    if (!resolved.ok()) return Fail(name, resolved.status());
    const footprint::MemoryOptions options;
    const auto bound = BoundAllChoices(footprint::PlanBuilder(
        *resolved, footprint::ReferenceMath(), options, kOptimizerStates));
    if (!bound.ok()) return Fail(name, bound.status());
    const Found free =
        Search(name, *resolved, std::numeric_limits<int64_t>::max(), false);
    const Found least = Search(name, *resolved, 0, false);
    const Found swapped = Search(name, *resolved, 0, true);
    std::cout << MinimaTable().Row(
                     {name, absl::StrCat(free.bytes), absl::StrCat(least.bytes),
                      absl::StrCat(swapped.bytes), absl::StrCat(*bound),
                      absl::StrFormat("%.3f", least.seconds),
                      absl::StrFormat("%.3f", swapped.seconds)})
              << std::flush;
    gaps_.push_back(static_cast<double>(least.bytes) /
                    static_cast<double>(*bound));
    swap_gaps_.push_back(static_cast<double>(swapped.bytes) /
                         static_cast<double>(*bound));
  }

  // Prints the median gaps of the rows printed since `first`.
  void PrintMedianGaps(const std::string& names, size_t first) const {
    PrintMedianGap(names, "", {gaps_.begin() + first, gaps_.end()});
    PrintMedianGap(names, " with a file",
                   {swap_gaps_.begin() + first, swap_gaps_.end()});
  }

  size_t printed() const { return gaps_.size(); }

  int failed() const { return failed_; }

 private:
  static constexpr int kOptimizerStates = 1;

  static void PrintMedianGap(const std::string& names, const std::string& how,
                             std::vector<double> gaps) {
    std::sort(gaps.begin(), gaps.end());
    const double median =
        (gaps[(gaps.size() - 1) / 2] + gaps[gaps.size() / 2]) / 2;
    std::cout << absl::StrFormat(
        "%d networks %s: the minimum%s by the bound is %.3f in the median, "
        "%.3f at most\n",
        gaps.size(), names, how, median, gaps.back());
  }

  void Fail(const std::string& name, const absl::Status& status) {
    std::cerr << name << ": " << status << "\n";
    failed_ = 1;
  }

  Found Search(const std::string& name,
               const footprint::ResolvedNetwork& network, int64_t budget_bytes,
               bool may_swap) {
    footprint::MemoryOptions options;
    options.budget_bytes = budget_bytes;
    const std::clock_t begin = std::clock();
    const auto plan = footprint::PlanSearch(network, footprint::ReferenceMath(),
                                            options, kOptimizerStates, may_swap)
                          .Run();
    const double seconds =
        static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (plan.ok()) return {plan->planned_bytes(), seconds};
    Fail(name, plan.status());
    return {};
  }

  std::vector<double> gaps_;
  std::vector<double> swap_gaps_;
  int failed_ = 0;
};

}  // namespace

int main() {
  std::cout << "momentum, batch 32 unless said; bytes\n"
            << MinimaTable().Headings();
  Minima minima;
  minima.Print("residual CNN, 13", footprint::ResidualImageClassifier());
  minima.Print("attention, 16", footprint::AttentionClassifier());
  minima.Print("attention, 240 layers", footprint::AttentionClassifier(24));
  minima.Print("MLP 13-50-50-1", footprint::TabularMlp(32));
  minima.Print("LeNet-5", footprint::LeNet5(32));
  minima.Print("VGG16", footprint::Vgg16(32));
  minima.Print("ResNet-18", footprint::ResNet18(32));
  minima.Print("transformer", footprint::SmallTransformer(32));
  const size_t named = minima.printed();
  for (uint32_t seed = 0; seed < 200; ++seed) {
    minima.Print(absl::StrCat("seed ", seed), footprint::RandomNetwork(seed));
  }
  minima.PrintMedianGaps("drawn from seeds", named);
  return footprint::FinishStandardOutput("print_budget_minima",
                                         minima.failed());
}

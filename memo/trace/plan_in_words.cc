#include "footprint/memo/trace/plan_in_words.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

std::string PeakInWords(const MemoPlan& plan) {
  if (plan.unknown_size_count() == plan.values_size()) {
    return "peak unknown, as no size is: run once with --memo_remember=FILE";
  }
  return absl::StrCat(
      plan.unknown_size_count() == 0 ? "peak " : "peak at least ",
      FormatBytes(plan.peak_bytes()),
      plan.counts_resident_bytes() ? " resident" : "",
      plan.has_budget_bytes()
          ? absl::StrCat(", budget ", FormatBytes(plan.budget_bytes()))
          : "");
}

// Returns how long the plan's loads take, if that is known.
std::string TimeInWords(const MemoPlan& plan) {
  if (!plan.costs_are_microseconds()) return "";
  return absl::StrFormat(" of %.3g s together",
                         static_cast<double>(plan.load_cost()) / 1e6);
}

// Returns what another order would need, if it needs less.
std::string OtherOrderInWords(const MemoPlan& plan) {
  if (plan.other_order_peak_count() == 0) return "";
  std::string words = "; in another order (--memo_order=reorder) ";
  if (plan.unknown_size_count() > 0) {
    return absl::StrCat(words, plan.other_order_peak_count(), " alive at most");
  }
  absl::StrAppend(&words, FormatBytes(plan.other_order_peak_bytes()));
  if (plan.other_order_load_count() != plan.load_count()) {
    absl::StrAppend(&words, " with ", plan.other_order_load_count(), " loads");
  }
  return words;
}

}  // namespace

std::string ProofInWords(const MemoPlan& plan) {
  if (plan.is_optimal()) return "optimal";
  if (plan.least_load_cost() == 0) return "not proved optimal";
  const auto cost = static_cast<double>(plan.load_cost());
  const auto least = static_cast<double>(plan.least_load_cost());
  const double percent = 100 * (cost / least - 1);
  if (percent >= 10) {
    return absl::StrFormat("at most %.0f %% above the least possible",
                           std::ceil(percent));
  }
  return absl::StrFormat("at most %.1f %% above the least possible",
                         std::ceil(percent * 10) / 10);
}

std::string PlanInWords(const MemoPlan& plan) {
  if (plan.values().empty()) return "";
  std::string words = absl::StrCat(
      plan.values_size(), " values, ", plan.load_count(), " loads planned",
      TimeInWords(plan), " (", plan.method(), ", ", ProofInWords(plan),
      plan.is_reordered() ? ", cells reordered" : "", "), ", plan.peak_count(),
      " alive at most; ", PeakInWords(plan), OtherOrderInWords(plan));
  if (plan.guessed_size_count() > 0) {
    absl::StrAppend(&words, "; ", plan.guessed_size_count(), " sizes guessed");
  }
  if (plan.unknown_size_count() > 0) {
    absl::StrAppend(&words, "; ", plan.unknown_size_count(), " sizes unknown");
  }
  return words;
}

}  // namespace footprint

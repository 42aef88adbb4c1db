#include "footprint/memo/product/plan_in_words.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
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

// Where another order would do with less.
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

std::string PlanInWords(const MemoPlan& plan) {
  if (plan.values().empty()) return "";
  std::string words = absl::StrCat(
      plan.values_size(), " values, ", plan.load_count(), " loads planned (",
      plan.method(), plan.is_optimal() ? ", optimal" : ", not proved optimal",
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

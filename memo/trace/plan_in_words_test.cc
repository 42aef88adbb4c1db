#include "footprint/memo/trace/plan_in_words.h"

#include "footprint/memo/schedule/memo_trace.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

MemoPlan FiveValues() {
  MemoPlan plan;
  for (int i = 0; i < 5; ++i) plan.add_values();
  plan.set_load_count(5);
  plan.set_method("keep to last use");
  plan.set_is_optimal(true);
  plan.set_peak_bytes(16 << 20);
  plan.set_peak_count(5);
  return plan;
}

TEST(PlanInWordsTest, SaysWhatIsLoadedAndAlive) {
  MemoPlan plan = FiveValues();
  EXPECT_EQ(PlanInWords(plan),
            "5 values, 5 loads planned (keep to last use, optimal), 5 alive at "
            "most; peak 16.0 MiB (16,777,216 B)");
  plan.set_budget_bytes(2048);
  plan.set_counts_resident_bytes(true);
  plan.set_guessed_size_count(2);
  plan.set_is_optimal(false);
  plan.set_is_reordered(true);
  EXPECT_EQ(PlanInWords(plan),
            "5 values, 5 loads planned (keep to last use, not proved optimal, "
            "cells reordered), 5 alive at most; peak 16.0 MiB (16,777,216 B) "
            "resident, budget 2.00 KiB (2,048 B); 2 sizes guessed");
}

TEST(PlanInWordsTest, SaysHowFarFromTheLeastAPlanIsAtMost) {
  MemoPlan plan = FiveValues();
  plan.set_is_optimal(false);
  plan.set_load_cost(158);
  plan.set_least_load_cost(108);
  EXPECT_EQ(
      PlanInWords(plan),
      "5 values, 5 loads planned (keep to last use, at most 47 % above "
      "the least possible), 5 alive at most; peak 16.0 MiB (16,777,216 B)");
  plan.set_load_cost(1001);
  plan.set_least_load_cost(1000);
  plan.set_costs_are_microseconds(true);
  EXPECT_EQ(PlanInWords(plan),
            "5 values, 5 loads planned of 0.001 s together (keep to last use, "
            "at most 0.1 % above the least possible), 5 alive at most; peak "
            "16.0 MiB (16,777,216 B)");
}

TEST(PlanInWordsTest, SaysWhatAnotherOrderNeeds) {
  MemoPlan plan = FiveValues();
  plan.set_other_order_peak_bytes(8 << 20);
  plan.set_other_order_peak_count(3);
  plan.set_other_order_load_count(5);
  const std::string words =
      "5 values, 5 loads planned (keep to last use, optimal), 5 alive at most; "
      "peak 16.0 MiB (16,777,216 B); in another order (--memo_order=reorder) "
      "8.00 MiB (8,388,608 B)";
  EXPECT_EQ(PlanInWords(plan), words);
  plan.set_other_order_load_count(4);
  EXPECT_EQ(PlanInWords(plan), words + " with 4 loads");
}

TEST(PlanInWordsTest, SaysWhichSizesAreUnknown) {
  MemoPlan plan = FiveValues();
  plan.set_other_order_peak_count(3);
  plan.set_unknown_size_count(1);
  EXPECT_EQ(PlanInWords(plan),
            "5 values, 5 loads planned (keep to last use, optimal), 5 alive at "
            "most; peak at least 16.0 MiB (16,777,216 B); in another order "
            "(--memo_order=reorder) 3 alive at most; 1 sizes unknown");
  plan.set_unknown_size_count(5);
  EXPECT_EQ(PlanInWords(plan),
            "5 values, 5 loads planned (keep to last use, optimal), 5 alive at "
            "most; peak unknown, since no size is known: run once with "
            "--memo_remember=FILE; in another order (--memo_order=reorder) 3 "
            "alive at most; 5 sizes unknown");
}

TEST(PlanInWordsTest, OfNoPlanThereIsNothingToSay) {
  EXPECT_EQ(PlanInWords(MemoPlan()), "");
}

}  // namespace
}  // namespace footprint

#include "footprint/memo/google_benchmark/family_numbers.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using Run = benchmark::BenchmarkReporter::Run;
using Numbers = std::pair<int64_t, int64_t>;

Numbers TakeNumbers(FamilyNumbers* numbers, const std::string& family,
                    const std::string& arguments) {
  Run run;
  run.run_name.function_name = family;
  run.run_name.args = arguments;
  run.family_index = 0;
  run.per_family_instance_index = 0;
  numbers->Set(&run);
  return {run.family_index, run.per_family_instance_index};
}

TEST(FamilyNumbersTest, AreThePlacesOfFirstInstances) {
  FamilyNumbers numbers({"BM_A/8", "BM_A/64", "BM_B", "BM_C/1"});
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "8"), Numbers(0, 0));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "64"), Numbers(0, 1));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_B", ""), Numbers(2, 0));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_C", "1"), Numbers(3, 0));
}

// A call numbers its instances from 0, or from any other number.
TEST(FamilyNumbersTest, WhatARowSaidBeforeIsOverwritten) {
  FamilyNumbers numbers({"BM_A/8", "BM_B"});
  benchmark::BenchmarkReporter::Run run;
  run.run_name.function_name = "BM_B";
  run.family_index = 5;
  run.per_family_instance_index = 5;
  numbers.Set(&run);
  EXPECT_EQ(run.family_index, 1);
  EXPECT_EQ(run.per_family_instance_index, 0);
}

TEST(FamilyNumbersTest, AreThoseOfTheListInWhateverOrderRowsCome) {
  FamilyNumbers numbers({"BM_A/8", "BM_A/64", "BM_B"});
  EXPECT_EQ(TakeNumbers(&numbers, "BM_B", ""), Numbers(2, 0));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "64"), Numbers(0, 1));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "8"), Numbers(0, 0));
}

TEST(FamilyNumbersTest, AComplexityHasItsFamilysNumber) {
  FamilyNumbers numbers({"BM_Z", "BM_A/8", "BM_A/64"});
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "8"), Numbers(1, 0));
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", "").first, 1);
}

TEST(FamilyNumbersTest, FamiliesWhoseNamesBeginAlikeShareNoNumber) {
  const std::vector<std::string> names = {"BM/x/8", "BM/x/64", "BM"};
  FamilyNumbers in_order(names);
  EXPECT_EQ(TakeNumbers(&in_order, "BM/x", "8"), Numbers(0, 0));
  EXPECT_EQ(TakeNumbers(&in_order, "BM/x", "64"), Numbers(0, 1));
  EXPECT_NE(TakeNumbers(&in_order, "BM", "").first, 0);
  FamilyNumbers reversed(names);
  const int64_t shorter = TakeNumbers(&reversed, "BM", "").first;
  EXPECT_NE(TakeNumbers(&reversed, "BM/x", "8").first, shorter);
  EXPECT_NE(TakeNumbers(&reversed, "BM/x", "64").first, shorter);
}

TEST(FamilyNumbersTest, WhatIsNotListedHasANumberOfItsOwn) {
  FamilyNumbers numbers({"BM_A"});
  EXPECT_EQ(TakeNumbers(&numbers, "BM_A", ""), Numbers(0, 0));
  const int64_t odd = TakeNumbers(&numbers, "odd\nname", "").first;
  EXPECT_NE(odd, 0);
  EXPECT_NE(TakeNumbers(&numbers, "odder\nname", "").first, odd);
}

// For any names and any order, a family has one number, and rows sorted by both
// numbers have the order of the list.
TEST(FamilyNumbersTest, RandomListsKeepTheirOrder) {
  std::mt19937 random(20261122);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<std::string, std::string>> instances;
    std::vector<std::string> names;
    const int family_count = 1 + static_cast<int>(random() % 6);
    for (int family = 0; family < family_count; ++family) {
      const int instance_count = 1 + static_cast<int>(random() % 4);
      const std::string name =
          absl::StrCat("BM_", family, random() % 2 == 0 ? "" : "/model:a");
      for (int i = 0; i < instance_count; ++i) {
        const std::string arguments =
            instance_count == 1 ? "" : absl::StrCat(i);
        instances.emplace_back(name, arguments);
        names.push_back(arguments.empty() ? name
                                          : absl::StrCat(name, "/", arguments));
      }
    }
    FamilyNumbers numbers(names);
    std::vector<size_t> order(names.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::map<Numbers, size_t> place_of_numbers;
    std::map<std::string, std::set<int64_t>> numbers_of_family;
    for (size_t i : order) {
      const Numbers found =
          TakeNumbers(&numbers, instances[i].first, instances[i].second);
      ASSERT_GE(found.second, 0);
      place_of_numbers[found] = i;
      numbers_of_family[instances[i].first].insert(found.first);
    }
    ASSERT_EQ(place_of_numbers.size(), names.size());
    size_t expected = 0;
    for (const auto& [found, place] : place_of_numbers) {
      ASSERT_EQ(place, expected++);
    }
    std::set<int64_t> all;
    for (const auto& [family, given] : numbers_of_family) {
      ASSERT_EQ(given.size(), 1u);
      all.insert(*given.begin());
    }
    ASSERT_EQ(all.size(), numbers_of_family.size());
  }
}

}  // namespace
}  // namespace footprint::memo_internal

#include "footprint/memo/google_benchmark/exact_filter.h"

#include <regex.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "footprint/profiling/google_benchmark/benchmark_processes.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using Names = std::vector<std::string>;

// Matches with POSIX's extended expressions, as Google Benchmark does.
Names FindMatches(const std::string& filter, const Names& names) {
  regex_t expression;
  EXPECT_EQ(regcomp(&expression, filter.c_str(), REG_EXTENDED | REG_NOSUB), 0);
  Names matches;
  for (const std::string& name : names) {
    if (regexec(&expression, name.c_str(), 0, nullptr, 0) == 0) {
      matches.push_back(name);
    }
  }
  regfree(&expression);
  return matches;
}

// The profiler and memo both write such filters, and neither may use the other.
TEST(ExactFilterTest, EscapesAsTheProfilerDoes) {
  for (int byte = 1; byte < 256; ++byte) {
    const std::string name = {'A', static_cast<char>(byte), 'B'};
    const std::vector<std::string> arguments =
        CommandLineOfGroup({"program"}, {{name}, ""}, "p");
    EXPECT_EQ(arguments[1], "--benchmark_filter=" + ExactFilter({name}));
  }
}

TEST(ExactFilterTest, MatchesTheNamesAndNoOthers) {
  const Names all = {"BM_A",   "BM_A/1",  "BM_A/10",      "BM_A/11", "BM_A/2",
                     "BM_A+B", "BM_A(x)", "BM_A[1]/a.b$", "BM_B",    "BM_AA",
                     "",       "x",       "BM_A/1/2"};
  for (size_t begin = 0; begin < all.size(); ++begin) {
    for (size_t step = 1; step < all.size(); ++step) {
      Names chosen;
      for (size_t i = begin; i < all.size(); i += step) {
        chosen.push_back(all[i]);
      }
      EXPECT_EQ(FindMatches(ExactFilter(chosen), all), chosen)
          << ExactFilter(chosen);
    }
  }
}

TEST(ExactFilterTest, ANameThatIsThereTwiceIsWrittenOnce) {
  EXPECT_EQ(ExactFilter({"BM_A", "BM_A"}), "^BM_A$");
}

TEST(ExactFilterTest, WritesACommonBeginOnce) {
  EXPECT_EQ(ExactFilter({"BM_A/20", "BM_A/1", "BM_A/21"}), "^BM_A/(1|2(0|1))$");
}

TEST(ExactFilterTest, NamesThatBeginEachOtherDoNotNestWithoutLimit) {
  Names names;
  for (size_t i = 1; i <= 300; ++i) names.push_back(std::string(i, 'a'));
  EXPECT_EQ(FindMatches(ExactFilter(names), names), names);
  EXPECT_EQ(FindMatches(ExactFilter(names), {std::string(301, 'a')}), Names());
  // Matchers recurse for each nested group.
  int depth = 0;
  int most = 0;
  for (const char c : ExactFilter(names)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    most = std::max(most, depth);
  }
  EXPECT_GT(most, 10);
  EXPECT_LE(most, 60);
}

Names Joined(const std::vector<Names>& parts) {
  return std::accumulate(parts.begin(), parts.end(), Names(),
                         [](Names all, const Names& part) {
                           all.insert(all.end(), part.begin(), part.end());
                           return all;
                         });
}

TEST(ExactFilterTest, ManyNamesAreDividedSoThatEachFilterCompiles) {
  Names names;
  for (int i = 0; i < 900; ++i) {
    // These have no common beginning, so the filter is as large as it can be.
    names.push_back(std::to_string(i * 7919) + std::string(60, 'x') +
                    std::to_string(i));
  }
  const std::vector<Names> parts = DivideForFilters(names);
  EXPECT_GT(parts.size(), 1u);
  EXPECT_EQ(Joined(parts), names);
  for (const Names& part : parts) {
    EXPECT_EQ(FindMatches(ExactFilter(part), {part.front(), part.back(), "y"}),
              Names({part.front(), part.back()}));
  }
}

TEST(ExactFilterTest, AFamilyStaysTogetherWhereItCan) {
  Names names;
  for (int family = 0; family < 4; ++family) {
    for (int size = 0; size < 300; ++size) {
      names.push_back("BM_" + std::to_string(family) + "/" +
                      std::string(60, 'x') + std::to_string(size));
    }
  }
  const std::vector<Names> parts = DivideForFilters(names);
  ASSERT_EQ(parts.size(), 4u);
  for (const Names& part : parts) EXPECT_EQ(part.size(), 300u);
  EXPECT_EQ(Joined(parts), names);
}

TEST(ExactFilterTest, AFamilyTooLargeForOneFilterIsDivided) {
  Names names;
  for (int i = 0; i < 900; ++i) {
    names.push_back("BM_One/" + std::string(60, 'x') + std::to_string(i));
  }
  const std::vector<Names> parts = DivideForFilters(names);
  EXPECT_GT(parts.size(), 1u);
  EXPECT_EQ(Joined(parts), names);
}

// A filter may have forty thousand states: four hundred names of a hundred
// each.
TEST(ExactFilterTest, EveryFilterIsFilled) {
  Names names;
  for (int i = 1000; i < 1800; ++i) {
    names.push_back(std::to_string(i) + std::string(92, 'x'));
  }
  const std::vector<Names> parts = DivideForFilters(names);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(), 400u);
  EXPECT_EQ(parts[1].size(), 400u);
}

TEST(ExactFilterTest, NamesThatAreThereTwiceStandInOnePart) {
  Names names;
  for (int i = 0; i < 900; ++i) {
    names.push_back("BM_" + std::to_string(i) + std::string(60, 'x'));
  }
  names.push_back(names.front());
  const std::vector<Names> parts = DivideForFilters(names);
  ASSERT_GT(parts.size(), 1u);
  EXPECT_EQ(parts[0][0], names[0]);
  EXPECT_EQ(parts[0][1], names[0]);
  EXPECT_EQ(parts.back().back(), names[899]);
  EXPECT_EQ(Joined(parts).size(), names.size());
}

}  // namespace
}  // namespace footprint::memo_internal

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/rules.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<RuleMistake> Mistakes(const std::string& text) {
  Threshold threshold;
  threshold.set_metric(PEAK_RESIDENT_BYTES);
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(text, &threshold))
      << text;
  return FindRuleMistakes(threshold, true);
}

void ExpectMistake(const std::string& text, const std::string& part) {
  const std::vector<RuleMistake> mistakes = Mistakes(text);
  ASSERT_THAT(mistakes, SizeIs(1)) << text;
  EXPECT_THAT(mistakes[0].message, HasSubstr(part)) << text;
}

TEST(RuleMistakesTest, GoodRulesHaveNoMistake) {
  for (const char* text :
       {"max_bytes: 5", "max_bytes: 5 budget { share: 0.95 confidence: 0.9 }",
        "regression { tolerance: 0 detectable: 0.02 }",
        "max_bytes: 5 budget { share: 0.95 confidence: 0.9 } "
        "regression { tolerance: 0.005 detectable: 0.02 "
        "baseline { values: [1, 2] } }",
        "scaling { argument: 'rows' max_exponent: 1 }",
        "scaling { argument: ['a', 'b'] at { argument { name: 'b' value: '2' } "
        "argument { name: 'a' value: '1e6' } max_bytes: 1 } }"}) {
    EXPECT_THAT(Mistakes(text), IsEmpty()) << text;
  }
}

TEST(RuleMistakesTest, ABudgetIsOfAMaximum) {
  ExpectMistake("budget { share: 0.95 confidence: 0.9 }",
                "give max_bytes or max_count beside it");
  ExpectMistake(
      "max_bytes: 5 min_bytes: 2 budget { share: 0.95 confidence: 0.9 }",
      "no minimum");
  for (const char* shares :
       {"share: 0 confidence: 0.9", "share: 1 confidence: 0.9",
        "share: 95 confidence: 0.9", "share: 0.9 confidence: 1", "share: 0.9",
        "share: nan confidence: 0.9", "share: -0.1 confidence: 0.9"}) {
    ExpectMistake(std::string("max_bytes: 5 budget { ") + shares + " }",
                  "both lie between 0 and 1");
  }
}

TEST(RuleMistakesTest, ARegressionHasAToleranceBelowTheDetectable) {
  for (const char* shares :
       {"", "tolerance: 0.02 detectable: 0.02",
        "tolerance: -0.01 detectable: 0.02", "tolerance: nan detectable: 0.02",
        "tolerance: 0.01 detectable: inf"}) {
    ExpectMistake(std::string("regression { ") + shares + " }",
                  "the second must be above the first");
  }
  ExpectMistake(
      "regression { tolerance: 0 detectable: 0.02 baseline { values: [3, 0] } "
      "}",
      "a baseline with the value 0");
  for (const char* sittings : {"[1]", "[3]", "[2, 0]", "[3, -1]"}) {
    ExpectMistake(
        absl::StrCat("regression { tolerance: 0 detectable: 0.02 baseline { "
                     "values: [3, 4] sittings: ",
                     sittings, " } }"),
        "sittings that count others");
  }
  ExpectMistake("max_bytes: 4 regression { tolerance: 0 detectable: 0.02 }",
                "a rule that is not over samples");
}

TEST(RuleMistakesTest, AScalingNamesItsArgumentsAndHasALimit) {
  ExpectMistake("scaling { max_exponent: 1 }", "names no argument");
  ExpectMistake("scaling { argument: ['a', 'a'] max_exponent: 1 }", "twice");
  ExpectMistake("scaling { argument: '' max_exponent: 1 }",
                "names no argument");
  ExpectMistake("scaling { argument: 'a' }", "has no limit");
  ExpectMistake("scaling { argument: 'a' max_exponent: -1 }",
                "scaling.max_exponent is -1");
  ExpectMistake("scaling { argument: 'a' max_bytes_per_unit: nan }",
                "scaling.max_bytes_per_unit is nan");
  ExpectMistake("scaling { argument: 'a' max_intercept: inf }",
                "scaling.max_intercept is inf");
  ExpectMistake(
      "metric: ALLOCATION_COUNT scaling { argument: 'a' "
      "max_exponent: 1 }",
      "is not counted in bytes");
}

TEST(RuleMistakesTest, ASizeThatIsNeverRunIsGivenWhole) {
  const auto at = [](const std::string& text) {
    return "scaling { argument: ['a', 'b'] at { " + text + " } }";
  };
  ExpectMistake(at("argument { name: 'a' value: '1' } max_bytes: 1"),
                "each argument of the law once");
  ExpectMistake(at("argument { name: 'a' value: '1' } argument { name: 'a' "
                   "value: '1' } argument { name: 'b' value: '1' } "
                   "max_bytes: 1"),
                "each argument of the law once");
  for (const char* value : {"0", "-1", "many", ""}) {
    ExpectMistake(at(std::string("argument { name: 'a' value: '") + value +
                     "' } argument { name: 'b' value: '1' } max_bytes: 1"),
                  "is not a number above zero");
  }
  ExpectMistake(at("argument { name: 'a' value: '1' } argument { name: 'b' "
                   "value: '1' }"),
                "max_bytes 0");
}

TEST(RuleMistakesTest, AFamilyIsJudgedByAThresholdOfItsOwn) {
  const std::string scaling = " scaling { argument: 'rows' max_exponent: 1 }";
  for (const char* other : {"max_bytes: 5", "min_bytes: 5",
                            "regression { tolerance: 0 detectable: 0.02 }"}) {
    ExpectMistake(other + scaling, "give each a threshold of its own");
  }
}

TEST(RuleMistakesTest, AThresholdWithoutARuleIsToldWhichThereAre) {
  ExpectMistake(
      "", "has no rule; give one of max_bytes, max_count, max, exact_bytes");
  ExpectMistake("severity: WARN", "scaling { argument ... }");
}

}  // namespace
}  // namespace footprint

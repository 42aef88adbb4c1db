#include "footprint/gates/judge/law_judgement.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Scaling Rules(const std::string& text) {
  Scaling scaling;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &scaling))
      << text;
  return scaling;
}

using Bytes = std::function<double(double rows)>;

std::vector<MeasuredSize> Sizes(const Bytes& bytes) {
  std::vector<MeasuredSize> sizes;
  for (int rows : {100, 300, 700, 1500, 3000}) {
    sizes.push_back({absl::StrCat("BM_Fit/rows:", rows),
                     {{"rows", absl::StrCat(rows)}},
                     static_cast<int64_t>(bytes(rows))});
  }
  return sizes;
}

double Linear(double rows) { return 4096 + 80 * rows; }

RuledFigure Only(const std::vector<RuledFigure>& figures) {
  EXPECT_THAT(figures, SizeIs(1));
  return figures.empty() ? RuledFigure() : figures[0];
}

TEST(ScalingRuleTest, AnAccidentalSquareIsRejected) {
  const Scaling rules = Rules(R"pb(argument: "rows" max_exponent: 1)pb");
  const RuledFigure linear = Only(JudgeScaling(rules, Sizes(Linear)));
  EXPECT_EQ(linear.rule, MAXIMUM_EXPONENT);
  EXPECT_EQ(linear.decision, ACCEPT);
  EXPECT_EQ(linear.measured, 1);
  // The square term, as of a table of all pairs, is 1 % of the bytes at the
  // largest size.
  const RuledFigure square = Only(JudgeScaling(
      rules,
      Sizes([](double rows) { return Linear(rows) + 0.00027 * rows * rows; })));
  EXPECT_EQ(square.decision, REJECT);
  EXPECT_EQ(square.measured, 2);
  EXPECT_EQ(square.limit, 1);
  EXPECT_THAT(square.explanation, HasSubstr("rows^2"));
}

TEST(ScalingRuleTest, FourSizesShowASquareBesideALine) {
  const Scaling rules = Rules(R"pb(argument: "rows" max_exponent: 1)pb");
  std::vector<MeasuredSize> sizes;
  for (int rows : {1000, 2000, 4000, 8000}) {
    // The square term is a tenth of the line at the largest size.
    sizes.push_back({absl::StrCat("BM_Fit/rows:", rows),
                     {{"rows", absl::StrCat(rows)}},
                     10000 + 8 * rows + rows * rows / 10000});
  }
  EXPECT_EQ(Only(JudgeScaling(rules, sizes)).decision, REJECT);
}

TEST(ScalingRuleTest, APowerThatOneSizeShowsIsNeitherThereNorNot) {
  const RuledFigure figure = Only(JudgeScaling(
      Rules(R"pb(argument: "rows" max_exponent: 1)pb"),
      Sizes([](double rows) { return rows == 3000 ? 43000 : 40000; })));
  EXPECT_EQ(figure.decision, INCONCLUSIVE) << figure.explanation;
  EXPECT_THAT(figure.explanation, HasSubstr("measure more values"));
}

TEST(ScalingRuleTest, ALogarithmIsNoHigherPower) {
  std::vector<MeasuredSize> sizes;
  for (int rows = 1000; rows <= 128000; rows *= 2) {
    sizes.push_back({absl::StrCat("BM_Sort/rows:", rows),
                     {{"rows", absl::StrCat(rows)}},
                     static_cast<int64_t>(8 * rows * std::log2(rows))});
  }
  const RuledFigure figure = Only(
      JudgeScaling(Rules(R"pb(argument: "rows" max_exponent: 1)pb"), sizes));
  EXPECT_EQ(figure.decision, ACCEPT) << figure.explanation;
  EXPECT_THAT(figure.explanation, HasSubstr("rows x log2(rows)"));
  EXPECT_THAT(figure.explanation, HasSubstr("at the largest size"));
}

TEST(ScalingRuleTest, ALineOfAnotherSlopeOrConstantIsRejected) {
  const Scaling rules = Rules(R"pb(argument: "rows"
                                   max_bytes_per_unit: 80.5
                                   max_intercept: 5000)pb");
  const std::vector<RuledFigure> good = JudgeScaling(rules, Sizes(Linear));
  ASSERT_THAT(good, SizeIs(2));
  EXPECT_EQ(good[0].rule, MAXIMUM_BYTES_PER_UNIT);
  EXPECT_EQ(good[0].decision, ACCEPT);
  EXPECT_EQ(good[0].measured, 80);
  EXPECT_EQ(good[1].rule, MAXIMUM_INTERCEPT);
  EXPECT_EQ(good[1].decision, ACCEPT);
  EXPECT_EQ(good[1].measured, 4096);
  EXPECT_EQ(JudgeScaling(rules,
                         Sizes([](double rows) { return 4096 + 81 * rows; }))[0]
                .decision,
            REJECT);
  EXPECT_EQ(JudgeScaling(rules,
                         Sizes([](double rows) { return 9000 + 80 * rows; }))[1]
                .decision,
            REJECT);
}

TEST(ScalingRuleTest, ASizeThatIsNeverRunIsPredicted) {
  const auto judge = [](int64_t max_bytes) {
    return Only(JudgeScaling(
        Rules(absl::StrCat("argument: \"rows\" at { argument { name: \"rows\" "
                           "value: \"30000\" } max_bytes: ",
                           max_bytes, " }")),
        Sizes(Linear)));
  };
  EXPECT_EQ(judge(2500000).decision, ACCEPT);
  EXPECT_EQ(judge(2500000).rule, PREDICTED_MAXIMUM);
  EXPECT_NEAR(static_cast<double>(judge(2500000).measured), Linear(30000), 100);
  EXPECT_THAT(judge(2500000).explanation, HasSubstr("at rows=30000, 10 times"));
  EXPECT_EQ(judge(2300000).decision, REJECT);
}

TEST(ScalingRuleTest, EachSizeOfALimitHasAName) {
  std::vector<std::string> names;
  for (const RuledFigure& figure :
       JudgeScaling(Rules(R"pb(
                      argument: "rows"
                      max_exponent: 1
                      at {
                        argument { name: "rows" value: "30000" }
                        max_bytes: 2500000
                      }
                      at {
                        argument { name: "rows" value: "3e5" }
                        max_bytes: 25000000
                      }
                      at {
                        argument { name: "rows" value: "30000" }
                        max_bytes: 2600000
                      })pb"),
                    Sizes(Linear))) {
    names.push_back(figure.size);
  }
  EXPECT_THAT(names,
              ElementsAre("", "rows=30000", "rows=3e5", "rows=30000 (2)"));
}

TEST(ScalingRuleTest, APredictionWhoseRangeHoldsTheLimitIsInconclusive) {
  int size = 0;
  const std::vector<MeasuredSize> noisy = Sizes([&size](double rows) {
    return 80 * rows * (++size % 2 == 0 ? 1.03 : 0.97);
  });
  const RuledFigure figure =
      Only(JudgeScaling(Rules(R"pb(
                          argument: "rows"
                          at {
                            argument { name: "rows" value: "30000" }
                            max_bytes: 2400000
                          })pb"),
                        noisy));
  EXPECT_EQ(figure.decision, INCONCLUSIVE);
  EXPECT_THAT(figure.explanation, HasSubstr("measure nearer to that size"));
}

TEST(ScalingRuleTest, TwoArgumentsAndTheirProduct) {
  std::vector<MeasuredSize> sizes;
  for (int features : {10, 30, 70}) {
    for (int rows : {100, 300, 900}) {
      sizes.push_back(
          {absl::StrCat("BM_Fit/", features, "/", rows),
           {{"features", absl::StrCat(features)}, {"rows", absl::StrCat(rows)}},
           8 * features * rows});
    }
  }
  const std::vector<RuledFigure> figures =
      JudgeScaling(Rules(R"pb(
                     argument: [ "features", "rows" ]
                     max_exponent: 1
                     max_bytes_per_unit: 8.01
                     at {
                       argument { name: "rows" value: "1000000" }
                       argument { name: "features" value: "1000" }
                       max_bytes: 8000000100
                     })pb"),
                   sizes);
  ASSERT_THAT(figures, SizeIs(3));
  for (const RuledFigure& figure : figures) {
    EXPECT_EQ(figure.decision, ACCEPT) << figure.explanation;
  }
  EXPECT_THAT(figures[0].explanation, HasSubstr("8 B x features x rows"));
  // The law has no constant.
  const std::vector<RuledFigure> none =
      JudgeScaling(Rules(R"pb(argument: [ "features", "rows" ]
                              max_intercept: 0.5)pb"),
                   sizes);
  ASSERT_THAT(none, SizeIs(1));
  EXPECT_EQ(none[0].measured, 0);
}

TEST(ScalingRuleTest, ADoublingBufferIsNoSquare) {
  const RuledFigure figure = Only(JudgeScaling(
      Rules(R"pb(argument: "rows" max_exponent: 1)pb"), Sizes([](double rows) {
        double capacity = 1;
        while (capacity < rows) capacity *= 2;
        return 8 * capacity;
      })));
  EXPECT_EQ(figure.decision, ACCEPT);
  EXPECT_THAT(figure.explanation, HasSubstr("up to a power of two"));
}

TEST(ScalingRuleTest, TooFewSizesAreInconclusive) {
  const Scaling rules = Rules(R"pb(argument: "rows" max_exponent: 1)pb");
  std::vector<MeasuredSize> sizes = Sizes(Linear);
  sizes.resize(3);
  EXPECT_EQ(Only(JudgeScaling(rules, sizes)).decision, INCONCLUSIVE);
  EXPECT_EQ(Only(JudgeScaling(rules, {})).decision, INCONCLUSIVE);
  sizes = Sizes(Linear);
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i].arguments["rows"] = i < 2 ? "10" : "20";
  }
  const RuledFigure two = Only(JudgeScaling(rules, sizes));
  EXPECT_EQ(two.decision, INCONCLUSIVE);
  EXPECT_THAT(two.explanation, HasSubstr("has 2 values, and at least 3"));
}

TEST(ScalingRuleTest, WhatFollowsNoLawIsInconclusive) {
  int size = 0;
  const RuledFigure figure = Only(JudgeScaling(
      Rules(R"pb(argument: "rows" max_exponent: 1)pb"),
      Sizes([&size](double) { return ++size % 2 == 0 ? 1e6 : 1e3; })));
  EXPECT_EQ(figure.decision, INCONCLUSIVE);
  EXPECT_THAT(figure.explanation, HasSubstr("no law"));
}

TEST(ScalingRuleTest, ArgumentsThatMakeNoLawAreMistakes) {
  const Scaling rules = Rules(R"pb(argument: "rows" max_exponent: 1)pb");
  for (const char* value : {"0", "-3", "many", "nan", "inf", ""}) {
    std::vector<MeasuredSize> sizes = Sizes(Linear);
    sizes[2].arguments["rows"] = value;
    const RuledFigure figure = Only(JudgeScaling(rules, sizes));
    EXPECT_EQ(figure.decision, BAD_CONFIGURATION) << value;
    EXPECT_THAT(
        figure.explanation,
        HasSubstr("argument \"rows\" of benchmark \"BM_Fit/rows:700\""));
  }
  std::vector<MeasuredSize> sizes = Sizes(Linear);
  sizes[1].arguments = {{"row", "300"}};
  EXPECT_EQ(Only(JudgeScaling(rules, sizes)).decision, BAD_CONFIGURATION);
  EXPECT_THAT(Only(JudgeScaling(rules, sizes)).explanation,
              HasSubstr("has no argument \"rows\""));
  sizes = Sizes(Linear);
  for (MeasuredSize& size : sizes) size.arguments["rows"] = "100";
  EXPECT_EQ(Only(JudgeScaling(rules, sizes)).decision, BAD_CONFIGURATION);
  EXPECT_THAT(Only(JudgeScaling(rules, sizes)).explanation,
              HasSubstr("is 100 in all 5 benchmarks"));
}

TEST(ScalingRuleTest, ASizeLimitNamesEachArgument) {
  EXPECT_EQ(Only(JudgeScaling(Rules(R"pb(
                                argument: "rows"
                                at {
                                  argument { name: "row" value: "1" }
                                  max_bytes: 1
                                })pb"),
                              Sizes(Linear)))
                .decision,
            BAD_CONFIGURATION);
}

}  // namespace
}  // namespace footprint

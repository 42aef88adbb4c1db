#include "footprint/gates/statistics/distributions.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kGoldens[] =
    "gates/statistics/testdata/golden_distributions.txt";

// A tail below the least normal double has fewer significant digits.
void ExpectClose(double got, double want, double relative_error) {
  EXPECT_LE(std::abs(got - want),
            relative_error * want + std::numeric_limits<double>::min())
      << got << " for " << want;
}

TEST(DistributionsTest, BinomialAgreesWithFiftyDigits) {
  std::ifstream goldens(kGoldens);
  std::string kind;
  int count = 0;
  while (goldens >> kind && kind == "binomial") {
    int64_t trials = 0;
    int64_t successes = 0;
    double probability = 0;
    double point = 0;
    double lower = 0;
    double upper = 0;
    // Streams do not read subnormal numbers, so the text is parsed by strtod.
    std::string texts[3];
    goldens >> trials >> probability >> successes >> texts[0] >> texts[1] >>
        texts[2];
    point = std::strtod(texts[0].c_str(), nullptr);
    lower = std::strtod(texts[1].c_str(), nullptr);
    upper = std::strtod(texts[2].c_str(), nullptr);
    SCOPED_TRACE(testing::Message()
                 << successes << " of " << trials << " at " << probability);
    ExpectClose(BinomialProbability(trials, probability, successes), point,
                1e-12);
    ExpectClose(BinomialLowerTail(trials, probability, successes), lower,
                1e-12);
    ExpectClose(BinomialUpperTail(trials, probability, successes), upper,
                1e-12);
    ++count;
  }
  EXPECT_GE(count, 150);
}

TEST(DistributionsTest, NormalAgreesWithFiftyDigitsAndItsQuantileTurnsBack) {
  std::ifstream goldens(kGoldens);
  std::string kind;
  int count = 0;
  for (std::string line; std::getline(goldens, line);) {
    if (line.rfind("normal ", 0) != 0) continue;
    char* end = nullptr;
    const double z = std::strtod(line.c_str() + 7, &end);
    const double tail = std::strtod(end, nullptr);
    ExpectClose(NormalUpperTail(z), tail, 1e-12);
    if (z > -5 && z < 37) {
      EXPECT_NEAR(NormalUpperQuantile(tail), z, 1e-9 * (1 + std::abs(z)))
          << tail;
    }
    ++count;
  }
  EXPECT_GE(count, 60);
}

TEST(DistributionsTest, TailsAreSumsOfPoints) {
  for (const double probability : {0.02, 0.4, 0.97}) {
    double lower = 0;
    for (int64_t k = 0; k <= 60; ++k) {
      EXPECT_NEAR(BinomialUpperTail(60, probability, k), 1 - lower, 1e-12);
      lower += BinomialProbability(60, probability, k);
      EXPECT_NEAR(BinomialLowerTail(60, probability, k), lower, 1e-12);
    }
    EXPECT_NEAR(lower, 1, 1e-12);
  }
}

TEST(DistributionsTest, CertainAndImpossibleEventsHaveExactProbabilities) {
  EXPECT_EQ(BinomialLowerTail(10, 0.3, -1), 0);
  EXPECT_EQ(BinomialLowerTail(10, 0.3, 10), 1);
  EXPECT_EQ(BinomialLowerTail(10, 0, 0), 1);
  EXPECT_EQ(BinomialLowerTail(10, 1, 9), 0);
  EXPECT_EQ(BinomialUpperTail(10, 0.3, 0), 1);
  EXPECT_EQ(BinomialUpperTail(10, 0.3, 11), 0);
  EXPECT_EQ(BinomialUpperTail(10, 0, 1), 0);
  EXPECT_EQ(BinomialUpperTail(10, 1, 10), 1);
  EXPECT_EQ(BinomialProbability(0, 0.3, 0), 1);
  EXPECT_EQ(BinomialProbability(5, 0, 0), 1);
  EXPECT_EQ(BinomialProbability(5, 1, 5), 1);
  EXPECT_EQ(BinomialProbability(5, 1, 4), 0);
}

// Values from tables of 1 - P(t), for one tail.
TEST(DistributionsTest, QuantilesOfStudentAreThoseOfTables) {
  EXPECT_NEAR(StudentUpperQuantile(1, 0.001), 318.308839, 1e-5);
  EXPECT_NEAR(StudentUpperQuantile(2, 0.001), 22.327125, 1e-6);
  EXPECT_NEAR(StudentUpperQuantile(3, 0.001), 10.214532, 1e-6);
  EXPECT_NEAR(StudentUpperQuantile(4, 0.001), 7.173182, 1e-6);
  EXPECT_NEAR(StudentUpperQuantile(9, 0.001), 4.296806, 1e-6);
  EXPECT_NEAR(StudentUpperQuantile(10, 0.05), 1.812461, 1e-6);
  EXPECT_NEAR(StudentUpperQuantile(1000, 0.001), 3.098402, 1e-5);
}

}  // namespace
}  // namespace footprint

#include "footprint/base/random/random_sequence.h"

#include <cmath>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// The numbers are the generator's published test vector for seed 1234567.
TEST(RandomSequenceTest, IsSplitmix64) {
  RandomSequence random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
}

TEST(RandomSequenceTest, TellsANumberWithoutThoseBeforeIt) {
  RandomSequence random(17);
  for (uint64_t index = 1; index <= 100; ++index) {
    EXPECT_EQ(RandomAt(17, index), random.Next());
  }
}

TEST(RandomSequenceTest, SkipsWhatItsFunctionsTake) {
  RandomSequence drawing(19);
  RandomSequence skipping(19);
  for (int i = 0; i < 5; ++i) drawing.Uniform();
  for (int i = 0; i < 3; ++i) drawing.Normal();
  drawing.Below(7);
  drawing.SignedUnit();
  skipping.Skip(5 + 2 * 3 + 1 + 1);
  EXPECT_EQ(skipping.Next(), drawing.Next());
}

TEST(RandomSequenceTest, DrawsEachNumberBelowTheLimitEquallyOften) {
  RandomSequence random(2);
  int counts[7] = {};
  for (int i = 0; i < 70000; ++i) ++counts[random.Below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomSequenceTest, DrawsFloatsOnBothSidesOfZero) {
  RandomSequence random(3);
  constexpr int kCount = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const float value = random.SignedUnit();
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 1);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.01);
}

TEST(RandomSequenceTest, HasTheMomentsThatItSays) {
  RandomSequence random(1);
  constexpr int kCount = 100000;
  double uniform = 0;
  double normal = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.Uniform();
    EXPECT_GE(u, 0);
    EXPECT_LT(u, 1);
    uniform += u;
    const double n = random.Normal();
    normal += n;
    squares += n * n;
  }
  EXPECT_NEAR(uniform / kCount, 0.5, 0.005);
  EXPECT_NEAR(normal / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.03);
}

}  // namespace
}  // namespace footprint

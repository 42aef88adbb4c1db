#include "footprint/trainer_manager/math/finite_values.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(FiniteValuesTest, EveryFiniteValuePasses) {
  EXPECT_EQ(FirstNotFinite(nullptr, 0), -1);
  std::vector<float> values(10'000, -1.5f);
  values[17] = kMost;
  values[4096] = -kMost;
  values[9999] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(FirstNotFinite(values.data(), 10'000), -1);
}

TEST(FiniteValuesTest, FindsTheFirstWhereverItIs) {
  for (const int64_t count : {1, 3, 16, 17, 4095, 4096, 4097, 9001}) {
    for (const float value : {kNaN, -kNaN, kInfinity, -kInfinity}) {
      for (const int64_t index : {int64_t{0}, count / 2, count - 1}) {
        std::vector<float> values(static_cast<size_t>(count), 2.0f);
        values[static_cast<size_t>(index)] = value;
        values.back() = value;
        EXPECT_EQ(FirstNotFinite(values.data(), count), index) << count;
        EXPECT_EQ(FirstNotFinite(values.data(), index), -1) << count;
      }
    }
  }
}

}  // namespace
}  // namespace footprint

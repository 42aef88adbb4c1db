#include "footprint/trainer_manager/layers/tensor_type.h"

#include <limits>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

TEST(TensorTypeTest, SizeIsTheProductTimesTheElement) {
  EXPECT_EQ(*CheckedSizeBytes({{32, 3, 28, 28}}), 32 * 3 * 28 * 28 * 4);
  EXPECT_EQ(*CheckedSizeBytes({{7}, DType::kU8}), 7);
  EXPECT_EQ(*CheckedSizeBytes({{2, 5}, DType::kI32}), 40);
  EXPECT_EQ(*CheckedSizeBytes({{}}), 4);
  EXPECT_EQ(SizeBytes({{3, 5}}), 60);
  EXPECT_EQ(SizeBytes({{}}), 4);
}

TEST(TensorTypeTest, ABlockOfAQuantisedTypeHasItsSize) {
  EXPECT_EQ(*CheckedSizeBytes({{2, 32}, DType::kQ8_0}), 68);
  EXPECT_EQ(SizeBytes({{2, 32}, DType::kQ8_0}), 68);
}

TEST(TensorTypeTest, RefusesExtentsBelowOne) {
  for (const int64_t extent :
       {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    const auto size = CheckedSizeBytes({{4, extent}});
    EXPECT_THAT(size, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(size.status().message()), HasSubstr("axis 1"));
  }
}

TEST(TensorTypeTest, RefusesFiveExtents) {
  EXPECT_THAT(CheckedSizeBytes({{1, 1, 1, 1, 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorTypeTest, RefusesMoreBytesThanAnInt64Holds) {
  const int64_t half = int64_t{1} << 31;
  EXPECT_EQ(*CheckedSizeBytes({{half, half / 4}}), int64_t{1} << 62);
  EXPECT_THAT(CheckedSizeBytes({{half, half / 2}}),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(CheckedSizeBytes({{half, half, half, half}}),
              StatusIs(absl::StatusCode::kOutOfRange));
  // A zero after the overflow is still the user's error.
  EXPECT_THAT(CheckedSizeBytes({{half, half, half, 0}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint

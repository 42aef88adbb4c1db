#include "footprint/base/tensor/shape.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShapeTest, CountsAxesFromEitherEnd) {
  Shape shape = {2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.extent(0), 2);
  EXPECT_EQ(shape.extent(-1), 5);
  shape.set_extent(-2, 7);
  EXPECT_THAT(shape.extents(), ElementsAre(2, 7, 5));
}

TEST(ShapeTest, TakesAnyRank) {
  Shape shape;
  for (int64_t i = 1; i <= 9; ++i) shape.Append(i);
  EXPECT_EQ(shape.rank(), 9);
  EXPECT_EQ(shape.elements(), 362880);
  EXPECT_EQ(shape, Shape({1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ShapeTest, IsAMatrixOfTheLastAxis) {
  EXPECT_EQ(Shape({2, 3, 5}).rows(), 6);
  EXPECT_EQ(Shape({2, 3, 5}).columns(), 5);
  EXPECT_EQ(Shape({5}).rows(), 1);
  EXPECT_EQ(Shape({5}).columns(), 5);
  EXPECT_EQ(Shape().rows(), 1);
  EXPECT_EQ(Shape().columns(), 1);
  EXPECT_EQ(Shape().elements(), 1);
}

// The rows cannot be counted, and the elements are none.
TEST(ShapeTest, HasNoElementsIfAnExtentIsZero) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Shape({kLarge, kLarge, 0}).rows(), kMaximum);
  for (const Shape& shape :
       {Shape({kLarge, kLarge, 0}), Shape({kLarge, 0, kLarge}),
        Shape({0, kLarge, kLarge}), Shape({kLarge, kLarge, 0, 5}),
        Shape({kMaximum, kMaximum, kMaximum, 0})}) {
    EXPECT_EQ(shape.elements(), 0) << shape.ToString();
    EXPECT_THAT(TensorBytes(DType::kF32, shape), IsOkAndHolds(0));
  }
}

TEST(ShapeTest, ReadsAsAList) {
  EXPECT_EQ(Shape({2, 3, 5}).ToString(), "[2, 3, 5]");
  EXPECT_EQ(Shape().ToString(), "[]");
}

TEST(ShapeTest, ComparesRankAndExtents) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_NE(Shape({2, 3}), Shape({2, 3, 1}));
  EXPECT_NE(Shape({2}), Shape({2, 0}));
}

TEST(TensorBytesTest, IsExactUpTo63Bits) {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*TensorBytes(DType::kF32, {32, 3, 28, 28}), 32 * 3 * 28 * 28 * 4);
  EXPECT_EQ(*TensorBytes(DType::kU8, {kMaximum}), kMaximum);
  EXPECT_THAT(TensorBytes(DType::kU16, {kMaximum}),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(*TensorBytes(DType::kF32, {}), 4);
}

TEST(TensorBytesTest, TakesNothingIfAnExtentIsZero) {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*TensorBytes(DType::kF64, {kMaximum, kMaximum, 0}), 0);
}

TEST(TensorBytesTest, CountsTheBlocksOfAQuantisedType) {
  EXPECT_THAT(TensorBytes(DType::kQ8_0, {3, 64}), IsOkAndHolds(3 * 2 * 34));
  EXPECT_THAT(TensorBytes(DType::kQ6K, {2, 5, 256}), IsOkAndHolds(10 * 210));
  const absl::Status status = TensorBytes(DType::kQ4K, {256, 96}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rows that are not whole blocks of 256"));
}

TEST(TensorBytesTest, RefusesANegativeExtent) {
  const absl::Status status = TensorBytes(DType::kF32, {2, -1}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("[2, -1]"));
}

}  // namespace
}  // namespace footprint

#include "footprint/base/tensor/dtype.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(DTypeTest, FindsEveryTypeByItsName) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
  }
  EXPECT_EQ(DTypeName(DType::kBF16), "BF16");
}

TEST(DTypeTest, FindsNoOtherName) {
  for (const char* name : {"", "F31", "f32", "F32 "}) {
    EXPECT_EQ(DTypeFromName(name), absl::nullopt) << name;
  }
}

TEST(DTypeTest, KnowsTheSizeOfAnElement) {
  EXPECT_EQ(DTypeBytes(DType::kF64), 8);
  EXPECT_EQ(DTypeBytes(DType::kF32), 4);
  EXPECT_EQ(DTypeBytes(DType::kF16), 2);
  EXPECT_EQ(DTypeBytes(DType::kBF16), 2);
  EXPECT_EQ(DTypeBytes(DType::kF8E4M3), 1);
  EXPECT_EQ(DTypeBytes(DType::kI32), 4);
  EXPECT_EQ(DTypeBytes(DType::kU8), 1);
  EXPECT_EQ(DTypeBytes(DType::kBool), 1);
}

TEST(DTypeTest, TakesOneByte) { EXPECT_EQ(sizeof(DType), 1u); }

}  // namespace
}  // namespace footprint

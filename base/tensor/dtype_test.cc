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

TEST(DTypeTest, KnowsTheBlocksOfQuantisedTypes) {
  struct Case {
    DType dtype;
    const char* name;
    int64_t elements;
    int64_t bytes;
  };
  // These are the sizes in the GGUF format's own table.
  for (const Case& known :
       {Case{DType::kQ4_0, "Q4_0", 32, 18}, Case{DType::kQ4_1, "Q4_1", 32, 20},
        Case{DType::kQ5_0, "Q5_0", 32, 22}, Case{DType::kQ5_1, "Q5_1", 32, 24},
        Case{DType::kQ8_0, "Q8_0", 32, 34}, Case{DType::kQ4K, "Q4_K", 256, 144},
        Case{DType::kQ5K, "Q5_K", 256, 176},
        Case{DType::kQ6K, "Q6_K", 256, 210}}) {
    EXPECT_EQ(DTypeName(known.dtype), known.name);
    EXPECT_TRUE(IsQuantised(known.dtype)) << known.name;
    EXPECT_EQ(BlockOf(known.dtype).elements, known.elements) << known.name;
    EXPECT_EQ(BlockOf(known.dtype).bytes, known.bytes) << known.name;
    EXPECT_EQ(BytesOfElements(known.dtype, 512),
              512 / known.elements * known.bytes)
        << known.name;
    EXPECT_EQ(ElementsOfBytes(known.dtype, 3 * known.bytes), 3 * known.elements)
        << known.name;
    // A safetensors file has no such type.
    EXPECT_EQ(DTypeFromName(known.name), absl::nullopt) << known.name;
  }
  EXPECT_FALSE(IsQuantised(DType::kBool));
  EXPECT_EQ(BytesOfElements(DType::kBF16, 7), 14);
  EXPECT_EQ(ElementsOfBytes(DType::kBF16, 14), 7);
}

TEST(DTypeTest, TakesOneByte) { EXPECT_EQ(sizeof(DType), 1u); }

}  // namespace
}  // namespace footprint

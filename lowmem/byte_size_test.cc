#include "footprint/lowmem/byte_size.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ParseByteSize, ReadsEveryUnit) {
  EXPECT_EQ(*ParseByteSize("0"), 0);
  EXPECT_EQ(*ParseByteSize("123"), 123);
  EXPECT_EQ(*ParseByteSize("7B"), 7);
  EXPECT_EQ(*ParseByteSize("2KiB"), 2048);
  EXPECT_EQ(*ParseByteSize("16MiB"), 16 << 20);
  EXPECT_EQ(*ParseByteSize("1.5 GiB"), 1610612736);
  EXPECT_EQ(*ParseByteSize("3kB"), 3000);
  EXPECT_EQ(*ParseByteSize("3MB"), 3000000);
  EXPECT_EQ(*ParseByteSize("0.5GB"), 500000000);
}

TEST(ParseByteSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "MiB", "-1", "1.2.3", "16 mib", "16MiBs", "1e3",
                           "nan", "inf", "99999999999GiB"}) {
    EXPECT_EQ(ParseByteSize(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(ByteSizeText, PicksTheUnit) {
  EXPECT_EQ(ByteSizeText(1023), "1023 B");
  EXPECT_EQ(ByteSizeText(1536), "1.5 KiB");
  EXPECT_EQ(ByteSizeText(16 << 20), "16.00 MiB");
  EXPECT_EQ(ByteSizeText(int64_t{3} << 30), "3.00 GiB");
}

}  // namespace
}  // namespace footprint

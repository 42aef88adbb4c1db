#include "footprint/base/text/octal_numbers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OctalNumbersTest, AreFoundWhereTheyStand) {
  const auto found =
      FindOctalNumbers("a: 10 # 010\nb: { c: -05000 }\nd: [1, 007]");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].line, 1);
  EXPECT_EQ(found[0].column, 9);
  EXPECT_EQ(found[0].message,
            "the number 05000 begins with a zero, which makes it octal; write "
            "5000");
  EXPECT_EQ(found[1].line, 2);
  EXPECT_EQ(found[1].message,
            "the number 007 begins with a zero, which makes it octal; write 7");
}

TEST(OctalNumbersTest, OthersAreNone) {
  for (const char* text :
       {"", "a: 0", "a: 0.5 b: 0x10 d: 1e05", "a: '010' b { }", "a: '"}) {
    EXPECT_THAT(FindOctalNumbers(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace footprint

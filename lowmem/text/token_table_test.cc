#include "footprint/lowmem/text/token_table.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TokenTableTest, FindsWordsByIdAndByBytes) {
  TokenTable table;
  ASSERT_THAT(table.Add(7, "Hello"), IsOk());
  ASSERT_THAT(table.Add(2, std::string("\0\xff", 2)), IsOk());
  ASSERT_THAT(table.Index(), IsOk());
  EXPECT_EQ(table.Find("Hello"), 7);
  EXPECT_EQ(table.Find(std::string("\0\xff", 2)), 2);
  EXPECT_FALSE(table.Find("Hell").has_value());
  EXPECT_FALSE(table.Find("").has_value());
  EXPECT_EQ(table.word(7), "Hello");
  EXPECT_EQ(table.word(3), "");
  EXPECT_EQ(table.word(-1), "");
  EXPECT_EQ(table.word(8), "");
  EXPECT_EQ(table.size(), 8);
}

TEST(TokenTableTest, FindsNothingWhereThereIsNothing) {
  TokenTable table;
  EXPECT_FALSE(table.Find("a").has_value());
  ASSERT_THAT(table.Index(), IsOk());
  EXPECT_FALSE(table.Find("a").has_value());
}

TEST(TokenTableTest, RefusesWhatContradictsItself) {
  TokenTable table;
  ASSERT_THAT(table.Add(0, "a"), IsOk());
  EXPECT_THAT(table.Add(0, "b").message(), HasSubstr("id 0 has two words"));
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 24, INT64_MAX}) {
    EXPECT_THAT(table.Add(id, "b").message(), HasSubstr("is not within")) << id;
  }
  EXPECT_THAT(table.Add(1, ""), Not(IsOk()));
  EXPECT_THAT(table.Add(1, std::string(65536, 'x')), Not(IsOk()));
  ASSERT_THAT(table.Add(1, std::string(65535, 'x')), IsOk());
  ASSERT_THAT(table.Add(5, "a"), IsOk());
  EXPECT_THAT(table.Index().message(),
              HasSubstr("ids 0 and 5 have the same word"));
}

// Checks the table's own count of its bytes for 128,000 words of 6 bytes.
TEST(TokenTableTest, TakesElevenBytesAWordBesideItsOwn) {
  TokenTable table;
  constexpr int kWords = 128000;
  for (int i = 0; i < kWords; ++i) {
    ASSERT_THAT(table.Add(i, absl::StrCat(100000 + i)), IsOk());
  }
  ASSERT_THAT(table.Index(), IsOk());
  EXPECT_LT(table.memory_bytes(), kWords * (6 + 12));
  EXPECT_EQ(table.Find("227999"), 127999);
  EXPECT_FALSE(table.Find("228000").has_value());
}

TEST(TokenTableTest, FindsTheLastOfRepeatedWordsWhereThatIsAskedFor) {
  TokenTable table;
  EXPECT_THAT(table.Add(0, "ab"), IsOk());
  EXPECT_THAT(table.Add(1, "abcd"), IsOk());
  EXPECT_THAT(table.Add(3, "ab"), IsOk());
  ASSERT_THAT(table.Index(Repeated::kLast), IsOk());
  EXPECT_EQ(table.Find("ab"), 3);
  EXPECT_EQ(table.word(0), "ab");
  EXPECT_EQ(table.sizes(), (std::vector<uint16_t>{2, 4}));
}

}  // namespace
}  // namespace footprint

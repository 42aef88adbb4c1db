#include "footprint/lowmem/text/merge_table.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/text/token_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

class MergeTableTest : public testing::Test {
 protected:
  MergeTableTest() {
    const char* const words[] = {"a", "b", "ab", "ba", "aba", "bab"};
    for (int i = 0; i < 6; ++i) EXPECT_THAT(words_.Add(i, words[i]), IsOk());
    EXPECT_THAT(words_.Index(), IsOk());
  }

  TokenTable words_;
};

// Two different merges may make the same word.
TEST_F(MergeTableTest, TellsMergesOfOneWordApart) {
  MergeTable merges(&words_);
  ASSERT_THAT(merges.Add("ab", "a"), IsOk());
  ASSERT_THAT(merges.Add("a", "ba"), IsOk());
  ASSERT_THAT(merges.Add("a", "b"), IsOk());
  ASSERT_THAT(merges.Index(), IsOk());
  EXPECT_EQ(merges.size(), 3);
  EXPECT_EQ(merges.Find(2, 0)->rank, 0);
  EXPECT_EQ(merges.Find(0, 3)->rank, 1);
  EXPECT_EQ(merges.Find(0, 3)->id, 4);
  EXPECT_EQ(merges.Find(0, 1)->id, 2);
  EXPECT_FALSE(merges.Find(1, 0).has_value());
  EXPECT_FALSE(merges.Find(0, 0).has_value());
}

TEST_F(MergeTableTest, TakesTheFirstOfEqualMerges) {
  MergeTable merges(&words_);
  ASSERT_THAT(merges.Add("a", "b"), IsOk());
  ASSERT_THAT(merges.Add("b", "a"), IsOk());
  ASSERT_THAT(merges.Add("a", "b"), IsOk());
  ASSERT_THAT(merges.Index(), IsOk());
  EXPECT_EQ(merges.Find(0, 1)->rank, 0);
}

TEST_F(MergeTableTest, FindsNothingWithoutMerges) {
  MergeTable merges(&words_);
  ASSERT_THAT(merges.Index(), IsOk());
  EXPECT_FALSE(merges.Find(0, 1).has_value());
}

TEST_F(MergeTableTest, RefusesWordsThatAreNotThere) {
  MergeTable merges(&words_);
  EXPECT_THAT(merges.Add("a", "c").message(), HasSubstr("merge 0"));
  EXPECT_THAT(merges.Add("b", "b").message(), HasSubstr("makes a word"));
  TokenTable words;
  const std::string left(256, 'x');
  ASSERT_THAT(words.Add(0, left), IsOk());
  ASSERT_THAT(words.Add(1, "y"), IsOk());
  ASSERT_THAT(words.Add(2, left + "y"), IsOk());
  ASSERT_THAT(words.Index(), IsOk());
  MergeTable long_merges(&words);
  EXPECT_THAT(long_merges.Add(left, "y").message(), HasSubstr("256 bytes"));
}

}  // namespace
}  // namespace footprint

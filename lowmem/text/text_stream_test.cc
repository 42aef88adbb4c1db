#include "footprint/lowmem/text/text_stream.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;

TEST(TextStreamTest, ShowsCharactersWhenTheyAreWhole) {
  const auto tokenizer = Tokenizer::Open("lowmem/text/testdata/byte_level");
  ASSERT_THAT(tokenizer, IsOk());
  const std::string text =
      "the \xf0\x9f\x98\x80 \xe4\xbd\xa0"
      "e\xcc\x81.";
  const auto ids = (*tokenizer)->Encode(text, SpecialIds::kInclude);
  ASSERT_THAT(ids, IsOk());
  TextStream stream(tokenizer->get());
  std::string shown;
  for (const int32_t id : *ids) {
    const std::string added = stream.Add(id);
    EXPECT_EQ(added.find("\xef\xbf\xbd"), std::string::npos) << added;
    shown += added;
  }
  EXPECT_EQ(stream.Finish(), "");
  // The tokenizer composes the accent. The word that begins a text is left out.
  EXPECT_EQ(shown, "the \xf0\x9f\x98\x80 \xe4\xbd\xa0\xc3\xa9.");
}

TEST(TextStreamTest, ShowsWhatIsNoCharacterAsItsSign) {
  const auto tokenizer = Tokenizer::Open("lowmem/text/testdata/byte_level");
  ASSERT_THAT(tokenizer, IsOk());
  const auto id = (*tokenizer)->FindWord("\xe4");
  ASSERT_TRUE(id.has_value());
  TextStream stream(tokenizer->get());
  std::vector<std::string> added = {stream.Add(*id), stream.Add(*id),
                                    stream.Finish()};
  EXPECT_THAT(added, ElementsAre("", "\xef\xbf\xbd", "\xef\xbf\xbd"));
  EXPECT_EQ(stream.Finish(), "");
}

}  // namespace
}  // namespace footprint

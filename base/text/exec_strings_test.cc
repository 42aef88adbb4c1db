#include "footprint/base/text/exec_strings.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::StrEq;

TEST(ExecStringsTest, EndWithANullPointer) {
  const std::vector<std::string> none;
  EXPECT_THAT(ExecStrings(none), ElementsAre(IsNull()));
}

TEST(ExecStringsTest, ArePointersIntoTheStrings) {
  const std::vector<std::string> strings = {"ls", "", "a b"};
  const std::vector<char*> pointers = ExecStrings(strings);
  EXPECT_THAT(pointers,
              ElementsAre(StrEq("ls"), StrEq(""), StrEq("a b"), IsNull()));
  EXPECT_EQ(pointers[2], strings[2].c_str());
}

}  // namespace
}  // namespace footprint

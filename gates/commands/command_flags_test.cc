#include "footprint/gates/commands/command_flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<CommandFlags> Parse(const std::vector<std::string>& arguments) {
  return CommandFlags::Parse(arguments, {"format", "only"}, {"help", "add"});
}

TEST(CommandFlagsTest, KeepsValuesInOrder) {
  const auto flags = Parse({"--only=a=b", "--add", "--only="});
  ASSERT_THAT(flags, IsOk());
  EXPECT_TRUE(flags->Has("add"));
  EXPECT_FALSE(flags->Has("help"));
  EXPECT_THAT(flags->Values("only"), ElementsAre("a=b", ""));
  EXPECT_EQ(flags->Value("only", "x"), "");
  EXPECT_EQ(flags->Value("format", "text"), "text");
  EXPECT_THAT(flags->Values("format"), IsEmpty());
}

TEST(CommandFlagsTest, SaysWhatIsWrong) {
  const auto message = [](const std::string& argument) {
    return std::string(Parse({argument}).status().message());
  };
  EXPECT_THAT(
      message("--fromat=json"),
      HasSubstr("there is no flag --fromat (did you mean \"format\"?)"));
  EXPECT_EQ(message("--format"),
            "--format needs a value: --format=...; see --help");
  EXPECT_EQ(message("--add=1"), "--add takes no value; see --help");
  EXPECT_EQ(message("add"), "\"add\" is not a flag; see --help");
  EXPECT_EQ(message("-h"), "\"-h\" is not a flag; see --help");
}

TEST(CommandFlagsTest, TakesAsManyWordsAsAskedFor) {
  const absl::StatusOr<CommandFlags> flags =
      CommandFlags::Parse({"old", "--x", "new"}, {}, {"x"}, 2);
  ASSERT_THAT(flags, IsOk());
  EXPECT_EQ(flags->words(), (std::vector<std::string>{"old", "new"}));
  EXPECT_TRUE(flags->Has("x"));
  EXPECT_THAT(CommandFlags::Parse({"a", "b"}, {}, {}, 1), testing::Not(IsOk()));
  EXPECT_THAT(CommandFlags::Parse({"a"}, {}, {}), testing::Not(IsOk()));
}

}  // namespace
}  // namespace footprint

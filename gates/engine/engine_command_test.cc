#include "footprint/gates/engine/engine_command.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPaths[] = " {bundle} {order} {result}";

absl::StatusOr<EngineCommand> Parse(const std::string& text) {
  return EngineCommand::Parse(text, "/");
}

// Returns the words between the program and kPaths.
std::vector<std::string> Words(const std::string& text) {
  const absl::StatusOr<EngineCommand> command =
      Parse(absl::StrCat("true ", text, kPaths));
  EXPECT_THAT(command, IsOk());
  if (!command.ok()) return {};
  std::vector<std::string> words = command->Fill({{"bundle", "B"},
                                                  {"order", "O"},
                                                  {"result", "R"},
                                                  {"limit", "256"},
                                                  {"seconds", "60"},
                                                  {"trial", "a b'c\"$(d)"}});
  EXPECT_EQ(std::vector<std::string>(words.end() - 3, words.end()),
            std::vector<std::string>({"B", "O", "R"}));
  return {words.begin() + 1, words.end() - 3};
}

TEST(EngineCommandTest, SplitsLikeAShellThatExpandsNothing) {
  EXPECT_THAT(Words("a  b\t\n c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Words("'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(Words("x'y'\"z\"'' '' \"\""), ElementsAre("xyz", "", ""));
  EXPECT_THAT(Words("'$HOME | \\ \"' \"\\\"\\\\\\$\\x'\""),
              ElementsAre("$HOME | \\ \"", "\"\\$\\x'"));
  EXPECT_THAT(Words("\\> \\$x a=b,c:d%e@f+g-h"),
              ElementsAre(">", "$x", "a=b,c:d%e@f+g-h"));
}

TEST(EngineCommandTest, RefusesWhatAShellWouldActOn) {
  for (const char* word :
       {"a|b", "a&", "a;b", "<a", ">a", "$A", "\"$A\"", "`a`", "\"`a`\"", "*",
        "a?", "[a]", "(a)", "~/a", "#a"}) {
    EXPECT_THAT(Parse(absl::StrCat("true ", word, kPaths)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("no shell reads this command")))
        << word;
  }
  EXPECT_THAT(Parse("true 'a"), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("' is not closed")));
  EXPECT_THAT(Parse("true \"a\\\""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\" is not closed")));
  EXPECT_THAT(Parse("true a\\"), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("last backslash")));
}

TEST(EngineCommandTest, ValuesAreNeitherSplitNorReplacedAgain) {
  EXPECT_THAT(Words("--mem={limit}M,{limit} '{seconds}' x{trial}y"),
              ElementsAre("--mem=256M,256", "60", "xa b'c\"$(d)y"));
  const absl::StatusOr<EngineCommand> command =
      Parse("true {trial} {bundle} {order} {result}");
  ASSERT_THAT(command, IsOk());
  EXPECT_THAT(command->Fill({{"trial", "{bundle}"},
                             {"bundle", "{order}"},
                             {"order", "{"},
                             {"result", ""}}),
              ElementsAre(HasSubstr("/true"), "{bundle}", "{order}", "{", ""));
}

TEST(EngineCommandTest, OtherBracesStay) {
  EXPECT_THAT(
      Words("{} {.status} {1} {A} a{b {{limit}} }{"),
      ElementsAre("{}", "{.status}", "{1}", "{A}", "a{b", "{256}", "}{"));
}

TEST(EngineCommandTest, NamesTheUnknownAndTheMissingPlaceholder) {
  EXPECT_THAT(Parse(absl::StrCat("true {limits}", kPaths)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::AllOf(HasSubstr("there is no {limits}"),
                                      HasSubstr("{seconds}"),
                                      HasSubstr("did you mean \"limit\"?"))));
  EXPECT_THAT(Parse("true {bundle} {result}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no word has {order}")));
  EXPECT_THAT(Parse("true"), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("no word has {bundle}")));
  EXPECT_THAT(Parse("  "), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("the command is empty")));
}

TEST(EngineCommandTest, TheProgramIsFoundBeforeTheFirstTrial) {
  EXPECT_THAT(Parse(absl::StrCat("no-such-program", kPaths)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no program 'no-such-program' in PATH")));
  EXPECT_THAT(Parse(absl::StrCat("/etc/passwd", kPaths)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a program that can be run")));
  EXPECT_THAT(Parse(absl::StrCat("/tmp", kPaths)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string path = WriteTestFile("engine.sh", "#!/bin/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const absl::StatusOr<EngineCommand> command =
      EngineCommand::Parse(absl::StrCat("./engine.sh", kPaths), TestPath(""));
  ASSERT_THAT(command, IsOk());
  const std::string program =
      command->Fill({{"bundle", ""}, {"order", ""}, {"result", ""}})[0];
  EXPECT_EQ(program[0], '/');
  EXPECT_TRUE(std::filesystem::equivalent(program, path));
}

TEST(EngineCommandTest, TellsWhichPlaceholdersAreUsed) {
  const absl::StatusOr<EngineCommand> command =
      Parse(absl::StrCat("true --mem={limit}", kPaths));
  ASSERT_THAT(command, IsOk());
  EXPECT_TRUE(command->Uses("limit"));
  EXPECT_TRUE(command->Uses("order"));
  EXPECT_FALSE(command->Uses("seconds"));
}

}  // namespace
}  // namespace footprint

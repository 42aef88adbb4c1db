#include "footprint/profiling/scaling/grid.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Grid MakeGrid(const char* text) { return *ParseGrid(text); }

absl::Status CommandError(const std::vector<std::string>& arguments) {
  return CommandTemplate::Parse(arguments, MakeGrid("features=1 rows=2"))
      .status();
}

TEST(GridTest, EachCombinationIsACell) {
  const Grid grid = MakeGrid(" features=10,100\trows=1e3,2e3 ");
  EXPECT_THAT(ListCells(grid),
              ElementsAre(GridCell{"10", "1e3"}, GridCell{"10", "2e3"},
                          GridCell{"100", "1e3"}, GridCell{"100", "2e3"}));
  EXPECT_EQ(CellText(grid, {"10", "2e3"}), "features=10 rows=2e3");
}

TEST(GridTest, ValuesFillTheirPlaces) {
  const Grid grid = MakeGrid("features=10 rows=1,2");
  const auto command = CommandTemplate::Parse(
      {"train", "--rows={rows}", "{features}x{rows}", "plain"}, grid);
  ASSERT_THAT(command, IsOk());
  EXPECT_THAT(command->For({"10", "2"}),
              ElementsAre("train", "--rows=2", "10x2", "plain"));
}

TEST(GridTest, OtherBracesStay) {
  const Grid grid = MakeGrid("rows=1");
  const auto command = CommandTemplate::Parse(
      {"{{rows}}", "{{{rows}}}", "{1: 2}", "{}", "{", "}", "{rows"}, grid);
  ASSERT_THAT(command, IsOk());
  EXPECT_THAT(command->For({"7"}),
              ElementsAre("{rows}", "{7}", "{1: 2}", "{}", "{", "}", "{rows"));
}

TEST(GridTest, BadGridsAreNamed) {
  for (const auto& [text, message] :
       std::vector<std::pair<const char*, const char*>>{
           {"", "is empty"},
           {"  ", "is empty"},
           {"rows", "has no \"=\""},
           {"rows=", "has no values"},
           {"=1", "has no name"},
           {"2rows=1", "needs a name"},
           {"ro-ws=1", "needs a name"},
           {"rows=1,,2", "has an empty value"},
           {"rows=1,", "has an empty value"},
           {"rows=1,2,1", "has the value 1 twice"},
           {"rows=1 rows=2", "stands there already"}}) {
    EXPECT_THAT(ParseGrid(text), StatusIs(kInvalid, HasSubstr(message)))
        << text;
  }
}

TEST(GridTest, AGridWithoutEndIsRefused) {
  std::string values = "0";
  for (int i = 1; i < 101; ++i) absl::StrAppend(&values, ",", i);
  EXPECT_THAT(ParseGrid(absl::StrCat("a=", values)), IsOk());
  EXPECT_THAT(ParseGrid(absl::StrCat("a=", values, " b=", values)),
              StatusIs(kInvalid, HasSubstr("more than 10000")));
}

TEST(GridTest, ABraceThatIsNotClosedIsNamed) {
  EXPECT_THAT(
      CommandError({"{features}", "--rows={rows"}),
      StatusIs(kInvalid, HasSubstr("the brace in --rows={rows is not closed")));
  EXPECT_THAT(
      CommandError({"{features}", "{rows,2"}),
      StatusIs(kInvalid, HasSubstr("the brace in {rows,2 is not closed")));
  // Neither another name nor doubled braces are meant: the placeholder is
  // missing.
  for (const char* argument : {"{rows2", "{{rows", "rows}"}) {
    EXPECT_THAT(CommandError({"{features}", argument}),
                StatusIs(kInvalid, HasSubstr("uses the variable rows")))
        << argument;
  }
}

TEST(GridTest, APlaceWithoutVariableAndAVariableWithoutPlaceAreNamed) {
  EXPECT_THAT(CommandError({"{features}", "--rows={row}"}),
              StatusIs(kInvalid, HasSubstr("fills {row} in --rows={row}")));
  EXPECT_THAT(CommandError({"{features}", "--rows={row}"}),
              StatusIs(kInvalid, HasSubstr("did you mean \"rows\"?")));
  EXPECT_THAT(CommandError({"{features}"}),
              StatusIs(kInvalid, HasSubstr("uses the variable rows")));
  EXPECT_THAT(CommandError({"{features}", "{{rows}}"}),
              StatusIs(kInvalid, HasSubstr("uses the variable rows")));
}

}  // namespace
}  // namespace footprint

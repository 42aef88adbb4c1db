#include "footprint/base/text/take_flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;

struct Taken {
  absl::Status status;
  std::vector<std::string> values;  // "a" or "b", and its value
  std::vector<std::string> left;
};

// Takes --a and --b; "bad" is a bad value of either.
Taken TakeFrom(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  Taken taken;
  const auto set = [&](const char* name, absl::string_view value) {
    taken.values.push_back(absl::StrCat(name, value));
    return value == "bad" ? absl::InvalidArgumentError(name) : absl::OkStatus();
  };
  taken.status = TakeFlags(
      &argc, argv.data(),
      {{"--a", [&](absl::string_view value) { return set("a", value); }},
       {"--b", [&](absl::string_view value) { return set("b", value); }}});
  EXPECT_EQ(argv[static_cast<size_t>(argc)], nullptr);
  taken.left.assign(argv.begin(), argv.begin() + argc);
  return taken;
}

TEST(TakeFlagsTest, TakesItsFlagsAndLeavesTheOthers) {
  const Taken taken =
      TakeFrom({"program", "--c=1", "--a=x=y", "word", "--b", "two", "--aa=3"});
  EXPECT_THAT(taken.status, IsOk());
  EXPECT_THAT(taken.values, ElementsAre("ax=y", "btwo"));
  EXPECT_THAT(taken.left, ElementsAre("program", "--c=1", "word", "--aa=3"));
}

TEST(TakeFlagsTest, StopsAtTheDoubleDash) {
  const Taken taken = TakeFrom({"program", "--a=1", "--b", "--", "--a=2"});
  EXPECT_THAT(taken.values, ElementsAre("a1", "b"));
  EXPECT_THAT(taken.left, ElementsAre("program", "--", "--a=2"));
}

TEST(TakeFlagsTest, AFlagMaySayNothing) {
  EXPECT_THAT(TakeFrom({"program", "--a="}).values, ElementsAre("a"));
  EXPECT_THAT(TakeFrom({"program", "--a"}).values, ElementsAre("a"));
  EXPECT_THAT(TakeFrom({"program", "--a", ""}).values, ElementsAre("a"));
}

TEST(TakeFlagsTest, GivesTheFirstErrorAndTakesAll) {
  const Taken taken = TakeFrom({"program", "--b=bad", "--a=bad", "--a=1", "x"});
  EXPECT_EQ(taken.status, absl::InvalidArgumentError("b"));
  EXPECT_THAT(taken.values, ElementsAre("bbad", "abad", "a1"));
  EXPECT_THAT(taken.left, ElementsAre("program", "x"));
}

TEST(TakeFlagsTest, TakesNoProgramName) {
  EXPECT_THAT(TakeFrom({"--a=1", "--a=2"}).left, ElementsAre("--a=1"));
  EXPECT_THAT(TakeFrom({}).left, ElementsAre());
}

}  // namespace
}  // namespace footprint

#include "footprint/base/text/near_names.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearNamesTest, AreTheClosestFirst) {
  const std::vector<absl::string_view> names = {
      "layer.1.bias", "layer.0.weight", "layer.0.bias", "pooler"};
  EXPECT_THAT(NearNames("layer.0.bia", names),
              ElementsAre("layer.0.bias", "layer.1.bias"));
  EXPECT_THAT(NearNames("something else", names), IsEmpty());
}

// A character may be missing in the wanted name or in the candidate.
TEST(NearNamesTest, CountEveryCharacterThatIsLeftOut) {
  const std::vector<absl::string_view> longer = {"weight_1", "weights"};
  EXPECT_THAT(NearNames("weight", longer), ElementsAre("weights", "weight_1"));
  const std::vector<absl::string_view> shorter = {"abcd", "abcde"};
  EXPECT_THAT(NearNames("abcdef", shorter), ElementsAre("abcde", "abcd"));
}

TEST(NearNamesTest, AreThreeAtMost) {
  const std::vector<absl::string_view> names = {"a1", "a2", "a3", "a4"};
  EXPECT_THAT(NearNames("a0", names), ElementsAre("a1", "a2", "a3"));
}

TEST(NearNamesTest, DoNotMindAPrefix) {
  const std::vector<absl::string_view> names = {"bert.encoder.layer.0.bias"};
  EXPECT_THAT(NearNames("layer.0.bias", names), ElementsAre(names[0]));
  EXPECT_THAT(NearNames("model.bert.encoder.layer.0.bias", names),
              ElementsAre(names[0]));
  // A part of a word is not a prefix.
  EXPECT_THAT(NearNames("r.0.bias", names), IsEmpty());
}

// Text before a name is a prefix only if it ends with a dot.
TEST(NearNamesTest, LeaveOutWhatIsFarLongerOrShorter) {
  const std::string tail(30, 'x');
  const std::vector<absl::string_view> names = {tail, "a"};
  EXPECT_THAT(NearNames("xx", names), ElementsAre("a"));
  EXPECT_THAT(NearNames(std::string(33, 'x'), names), ElementsAre(tail));
  EXPECT_THAT(NearNames(std::string(46, 'x'), names), IsEmpty());
}

TEST(NearNamesTest, LeaveOutWhatIsTooLongToCompare) {
  const std::string long_name(600, 'a');
  const std::vector<absl::string_view> names = {long_name, "b"};
  EXPECT_THAT(NearNames(long_name, names), IsEmpty());
  EXPECT_THAT(NearNames("a", names), ElementsAre("b"));
}

TEST(NearNamesTest, AreSaidInAnError) {
  EXPECT_EQ(NearNamesText("wight", {"weight", "bias"}),
            "; the closest: \"weight\"");
  EXPECT_EQ(NearNamesText("wight", {}), ", and no name is similar");
}

TEST(NearNamesTest, AreAskedFor) {
  EXPECT_EQ(DidYouMean("BM_Laod", {"BM_Save", "BM_Load", "BM_Loader"}),
            " (did you mean \"BM_Load\"?)");
  EXPECT_EQ(DidYouMean("BM_Load/rows:10", {"BM_Load/rows:100"}),
            " (did you mean \"BM_Load/rows:100\"?)");
  EXPECT_EQ(DidYouMean("BM_Load", {}), "");
  EXPECT_EQ(DidYouMean("BM_Load", {"//gates/deployments/tabular:x"}), "");
  EXPECT_EQ(DidYouMean("abcd", {"wxyz"}), "");
}

}  // namespace
}  // namespace footprint

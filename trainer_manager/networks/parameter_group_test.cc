#include "footprint/trainer_manager/networks/parameter_group.h"

#include <cstdint>
#include <limits>
#include <string>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// Follows the definition of a match, whatever the time it takes.
bool MatchesByDefinition(absl::string_view pattern, absl::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return MatchesByDefinition(pattern.substr(1), name) ||
           (!name.empty() && MatchesByDefinition(pattern, name.substr(1)));
  }
  return !name.empty() && pattern[0] == name[0] &&
         MatchesByDefinition(pattern.substr(1), name.substr(1));
}

TEST(ParameterGroupTest, NamesFitPatterns) {
  EXPECT_TRUE(MatchesPattern("conv1.weight", "conv1.weight"));
  EXPECT_FALSE(MatchesPattern("conv1", "conv1.weight"));
  EXPECT_TRUE(MatchesPattern("conv*", "conv1.weight"));
  EXPECT_TRUE(MatchesPattern("*.bias", "head.bias"));
  EXPECT_FALSE(MatchesPattern("*.bias", "head.bias2"));
  EXPECT_TRUE(MatchesPattern("*", ""));
}

TEST(ParameterGroupTest, MatchesAreThoseOfTheDefinition) {
  RandomSequence random(4);
  const auto draw = [&random](int length, const char* letters, uint64_t count) {
    std::string text;
    for (int i = 0; i < length; ++i) text += letters[random.Below(count)];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern =
        draw(static_cast<int>(random.Below(7)), "ab*", 3);
    const std::string name = draw(static_cast<int>(random.Below(8)), "ab", 2);
    ASSERT_EQ(MatchesPattern(pattern, name), MatchesByDefinition(pattern, name))
        << pattern << " " << name;
  }
}

TEST(ParameterGroupTest, GroupsThatAreNoneAreRefused) {
  const auto refusal = [](const ParameterGroup& group) {
    const absl::Status status = CheckGroup(group);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  ParameterGroup group;
  EXPECT_THAT(refusal(group), HasSubstr("empty pattern"));
  group.pattern = "conv*";
  EXPECT_THAT(CheckGroup(group), IsOk());
  for (const float factor :
       {0.0f, -1.0f, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    group.rate_factor = factor;
    EXPECT_THAT(refusal(group), HasSubstr("\"conv*\" has the rate factor"));
  }
  group.rate_factor = 0.5f;
  for (const float decay : {-0.1f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    group.weight_decay = decay;
    EXPECT_THAT(refusal(group), HasSubstr("has the decay"));
  }
  group.weight_decay = 0.0f;
  EXPECT_THAT(CheckGroup(group), IsOk());
  group.frozen = true;
  EXPECT_THAT(refusal(group), HasSubstr("no rate and no decay"));
  group.rate_factor = 1;
  EXPECT_THAT(refusal(group), HasSubstr("no rate and no decay"));
  group.weight_decay.reset();
  EXPECT_THAT(CheckGroup(group), IsOk());
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/text/token_sampler.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;

// Returns how often each word is chosen in `draws` draws.
std::map<int32_t, int> Draw(const SamplingOptions& options,
                            const std::vector<float>& logits, int draws) {
  TokenSampler sampler(options);
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.Choose(logits)];
  return counts;
}

TEST(TokenSamplerTest, ChoosesTheFirstOfTheMostLikely) {
  TokenSampler sampler({});
  EXPECT_EQ(sampler.Choose({1.0f, 3.0f, 3.0f, 2.0f}), 1);
}

TEST(TokenSamplerTest, ChoosesAsOftenAsTheModelSays) {
  SamplingOptions options;
  options.temperature = 1;
  const std::vector<float> logits = {0.0f, std::log(2.0f), std::log(5.0f),
                                     -100.0f};
  auto counts = Draw(options, logits, 80000);
  // The tolerance is five standard deviations of a binomial distribution.
  EXPECT_NEAR(counts[0], 10000, 5 * 94);
  EXPECT_NEAR(counts[1], 20000, 5 * 123);
  EXPECT_NEAR(counts[2], 50000, 5 * 137);
  EXPECT_EQ(counts[3], 0);
  // Half the temperature squares the weights: 1 : 4 : 25.
  options.temperature = 0.5;
  counts = Draw(options, logits, 30000);
  EXPECT_NEAR(counts[1], 4000, 5 * 60);
  EXPECT_NEAR(counts[2], 25000, 5 * 65);
}

TEST(TokenSamplerTest, KeepsToTheMostLikelyWords) {
  SamplingOptions options;
  options.temperature = 1;
  options.top_k = 2;
  const std::vector<float> logits = {1.0f, 4.0f, 4.0f, 4.0f};
  EXPECT_THAT(Draw(options, logits, 1000),
              ElementsAre(testing::Pair(1, testing::Gt(400)),
                          testing::Pair(2, testing::Gt(400))));
  options.top_k = 100;  // more than there are words
  EXPECT_EQ(Draw(options, logits, 1000).size(), 4u);
  options.top_k = 0;
  options.top_p = 0.5;  // two of the three equal words
  EXPECT_EQ(Draw(options, logits, 1000).size(), 2u);
  options.top_p = 1e-9;
  EXPECT_EQ(Draw(options, logits, 100).size(), 1u);
}

TEST(TokenSamplerTest, RepeatsItselfBySeed) {
  const auto draw = [](uint64_t seed) {
    SamplingOptions options;
    options.temperature = 1;
    options.seed = seed;
    TokenSampler sampler(options);
    std::vector<int32_t> ids;
    const std::vector<float> logits(1000, 0.5f);
    for (int i = 0; i < 20; ++i) ids.push_back(sampler.Choose(logits));
    return ids;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

}  // namespace
}  // namespace footprint

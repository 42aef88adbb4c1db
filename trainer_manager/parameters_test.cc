#include "footprint/trainer_manager/parameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "footprint/trainer_manager/reference_networks.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::shared_ptr<Parameters> Create(const Network& network, uint64_t seed) {
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  EXPECT_TRUE(plan.ok()) << plan.status();
  const auto parameters = Parameters::Create(*plan, seed);
  EXPECT_TRUE(parameters.ok()) << parameters.status();
  return *parameters;
}

TEST(ParametersTest, AreInitialisedAsTheLayersAsk) {
  const auto parameters = Create(ResNet18(2), 7);
  const absl::Span<float> scale = *parameters->Find("bn.scale");
  EXPECT_TRUE(
      std::all_of(scale.begin(), scale.end(), [](float v) { return v == 1; }));
  const absl::Span<float> bias = *parameters->Find("fc.bias");
  EXPECT_TRUE(
      std::all_of(bias.begin(), bias.end(), [](float v) { return v == 0; }));
  // 256 * 9 inputs a filter: a standard deviation of sqrt(2 / 2304).
  const absl::Span<float> weight = *parameters->Find("block3b_conv1.weight");
  double squares = 0;
  for (const float v : weight) squares += static_cast<double>(v) * v;
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), 2.0 / 2304, 1e-5);
  const absl::Span<float> uniform = *parameters->Find("fc.weight");
  const auto range = std::minmax_element(uniform.begin(), uniform.end());
  const double bound = std::sqrt(6.0 / 612);
  EXPECT_NEAR(*range.first, -bound, 1e-3);
  EXPECT_NEAR(*range.second, bound, 1e-3);
}

TEST(ParametersTest, TheSeedDecides) {
  const auto values = [](uint64_t seed) {
    const auto parameters = Create(TabularMlp(1), seed);
    const absl::Span<float> span = *parameters->Find("fc1.weight");
    return std::vector<float>(span.begin(), span.end());
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

TEST(ParametersTest, NamesWhatItDoesNotHave) {
  const auto parameters = Create(TabularMlp(1), 1);
  EXPECT_EQ(parameters->all().size(), 6u);
  EXPECT_EQ(parameters->Find("fc4.weight").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace footprint

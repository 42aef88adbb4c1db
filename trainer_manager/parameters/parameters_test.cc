#include "footprint/trainer_manager/parameters/parameters.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<Parameters> Create(const Network& network, uint64_t seed) {
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  EXPECT_THAT(plan, IsOk());
  const auto parameters = Parameters::Create(*plan, seed);
  EXPECT_THAT(parameters, IsOk());
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
  // A filter has 256 * 9 inputs, so the standard deviation is sqrt(2 / 2304).
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

TEST(ParametersTest, AnInitializerOfMyOwnHasTheLastWord) {
  const auto plan = PlanExecution(TabularMlp(1), NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  const auto asked = *Parameters::Create(*plan, 1);
  const auto parameters =
      Parameters::Create(*plan, 1, [](const Parameters::Parameter& parameter) {
        if (parameter.name != "fc2.bias") return;
        EXPECT_EQ(parameter.shape.ToString(), "[50]");
        EXPECT_EQ(parameter.values[3], 0);  // as its layer asks
        std::fill(parameter.values.begin(), parameter.values.end(), 0.5f);
      });
  ASSERT_THAT(parameters, IsOk());
  for (const Parameters::Parameter& parameter : (*parameters)->all()) {
    if (parameter.name == "fc2.bias") {
      EXPECT_EQ(parameter.values[49], 0.5f);
    } else {
      EXPECT_EQ(parameter.values, *asked->Find(parameter.name));
    }
  }
  const absl::Status status =
      Parameters::Create(*plan, 1, [](const Parameters::Parameter& parameter) {
        if (parameter.name == "fc3.weight") parameter.values[7] = NAN;
      }).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(status.message(),
            "the initializer makes parameter \"fc3.weight\" nan at index 7");
}

TEST(ParametersTest, NoInitializerMakesAVarianceBelowZero) {
  const auto plan = PlanExecution(ResNet18(2), NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  const absl::Status status =
      Parameters::Create(*plan, 1, [](const Parameters::Parameter& parameter) {
        if (absl::EndsWith(parameter.name, ".mean")) parameter.values[0] = -1;
        if (!absl::EndsWith(parameter.name, ".variance")) return;
        parameter.values[0] = 0;
        parameter.values[1] = -0.5f;
      }).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(".variance\" -0.5 at index 1"));
}

TEST(ParametersTest, NamesWhatItDoesNotHave) {
  const auto parameters = Create(TabularMlp(1), 1);
  EXPECT_EQ(parameters->all().size(), 6u);
  EXPECT_THAT(parameters->Find("fc4.weight"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint

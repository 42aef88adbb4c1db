#include "footprint/trainer_manager/adapters/merge_adapters.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

Network Rows() {
  Network network;
  network.AddInput("rows", {{7, 20}});
  network.AddLayer("first", FullyConnected(30), {"rows"});
  network.AddLayer("tanh", Tanh(), {"first"});
  network.AddLayer("second", FullyConnected(5), {"tanh"});
  return network;
}

AdaptedNetwork Adapted() {
  LoraOptions options;
  options.rank = 3;
  options.alpha = 2;
  options.targets = {{"first", 0, 3, "q"}, {"first", 2, 3, "v"}, {"second"}};
  auto adapted = AddAdapters(Rows(), options);
  EXPECT_THAT(adapted, IsOk());
  return *std::move(adapted);
}

// Adapters have other values than zeros.
std::shared_ptr<Parameters> MakeParameters(const Network& network) {
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  RandomSequence random(3);
  const auto parameters = Parameters::Create(
      *plan, 1, [&random](const Parameters::Parameter& parameter) {
        for (float& value : parameter.values) {
          value += static_cast<float>(random.Uniform() - 0.5);
        }
      });
  EXPECT_THAT(parameters, IsOk());
  return *parameters;
}

std::vector<float> Infer(const Network& network,
                         std::shared_ptr<Parameters> parameters) {
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  const auto manager = Manager::Create(*plan, std::move(parameters), {});
  EXPECT_THAT(manager, IsOk());
  RandomSequence random(5);
  std::vector<float> rows(7 * 20);
  for (float& value : rows) value = static_cast<float>(random.Uniform());
  EXPECT_THAT((*manager)->Infer({absl::MakeConstSpan(rows)}), IsOk());
  const auto output = *(*manager)->Output();
  return std::vector<float>(output.begin(), output.end());
}

TEST(MergeAdaptersTest, TheMergedFileInfersTheSameWithoutAdapters) {
  const std::string path = TestPath("merged.safetensors");
  const AdaptedNetwork adapted = Adapted();
  const auto parameters = MakeParameters(adapted.network);
  ASSERT_THAT(MergeAdapters(adapted, *parameters, path), IsOk());
  const auto merged = MakeParameters(Rows());
  const std::vector<float> base = Infer(Rows(), merged);
  ASSERT_THAT(LoadParameters(path, merged.get()), IsOk());
  const std::vector<float> expected = Infer(adapted.network, parameters);
  const std::vector<float> output = Infer(Rows(), merged);
  ASSERT_EQ(output.size(), expected.size());
  float farthest = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    EXPECT_NEAR(output[i], expected[i], 2e-5f) << i;
    farthest = std::max(farthest, std::abs(output[i] - base[i]));
  }
  EXPECT_GT(farthest, 0.1f);
}

// Element by element, in double.
TEST(MergeAdaptersTest, AddsTheScaledProduct) {
  const std::string path = TestPath("merged.safetensors");
  const AdaptedNetwork adapted = Adapted();
  const auto parameters = MakeParameters(adapted.network);
  ASSERT_THAT(MergeAdapters(adapted, *parameters, path), IsOk());
  const auto merged = MakeParameters(Rows());
  ASSERT_THAT(LoadParameters(path, merged.get()), IsOk());
  const auto weight = *parameters->Find("first.weight");
  const auto result = *merged->Find("first.weight");
  for (size_t i = 0; i < 20; ++i) {
    for (size_t u = 0; u < 30; ++u) {
      double sum = weight[i * 30 + u];
      const char* const part = u < 10 ? "first.0of3" : "first.2of3";
      if (u < 10 || u >= 20) {
        const auto a = *parameters->Find(std::string(part) + ".lora_A");
        const auto b = *parameters->Find(std::string(part) + ".lora_B");
        for (size_t k = 0; k < 3; ++k) {
          sum += 2.0 / 3 * double{b[u % 10 * 3 + k]} * double{a[k * 20 + i]};
        }
      }
      EXPECT_NEAR(result[i * 30 + u], sum, 1e-6) << i << " " << u;
    }
  }
  EXPECT_EQ(*parameters->Find("first.bias"), *merged->Find("first.bias"));
}

TEST(MergeAdaptersTest, RefusesParametersOfAnotherNetworkAndOverflow) {
  const std::string path = TestPath("refused.safetensors");
  const AdaptedNetwork adapted = Adapted();
  EXPECT_THAT(MergeAdapters(adapted, *MakeParameters(Rows()), path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("AdaptedNetwork::network")));
  const auto parameters = MakeParameters(adapted.network);
  constexpr float kMost = std::numeric_limits<float>::max();
  (*parameters->Find("second.lora_A"))[0] = kMost;
  (*parameters->Find("second.lora_B"))[0] = kMost;
  EXPECT_THAT(
      MergeAdapters(adapted, *parameters, path),
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("\"second.weight\"")));
  (*parameters->Find("second.lora_A"))[0] = 1;
  (*parameters->Find("first.bias"))[2] = std::nanf("");
  EXPECT_THAT(MergeAdapters(adapted, *parameters, path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"first.bias\" is nan at index 2")));
  // Nothing was written.
  EXPECT_THAT(LoadParameters(path, MakeParameters(Rows()).get()),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint

// What dense_network.h promises, the gradient against finite differences.

#include "footprint/gates/deployments/tabular/dense_network.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

std::vector<double> RandomNumbers(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

// The naive rival: one sample, one unit at a time.
std::vector<double> NaiveForward(const std::vector<size_t>& unit_counts,
                                 const std::vector<double>& parameters,
                                 std::vector<double> values) {
  size_t next = 0;
  for (size_t layer = 1; layer < unit_counts.size(); ++layer) {
    const size_t input_count = unit_counts[layer - 1];
    const size_t output_count = unit_counts[layer];
    std::vector<double> outputs(output_count);
    for (size_t out = 0; out < output_count; ++out) {
      double sum = parameters[next + input_count * output_count + out];
      for (size_t in = 0; in < input_count; ++in) {
        sum += parameters[next + in * output_count + out] * values[in];
      }
      outputs[out] = layer + 1 < unit_counts.size() ? std::max(0.0, sum) : sum;
    }
    next += (input_count + 1) * output_count;
    values = outputs;
  }
  return values;
}

TEST(DenseNetworkTest, AgreesWithTheNaiveNetwork) {
  for (const std::vector<size_t>& unit_counts : {std::vector<size_t>{3, 2},
                                                 {1, 1, 1},
                                                 {10, 50, 50, 1},
                                                 {300, 7, 5, 2}}) {
    const size_t samples = 9;
    DenseNetwork network(unit_counts, /*batch_capacity=*/16);
    const std::vector<double> parameters =
        RandomNumbers(network.parameter_count(), 1);
    const std::vector<double> inputs =
        RandomNumbers(samples * unit_counts[0], 2);
    std::copy(inputs.begin(), inputs.end(), network.inputs());
    const double* outputs = network.Forward(parameters, samples);
    for (size_t sample = 0; sample < samples; ++sample) {
      const std::vector<double> expected =
          NaiveForward(unit_counts, parameters,
                       {inputs.begin() + sample * unit_counts[0],
                        inputs.begin() + (sample + 1) * unit_counts[0]});
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(outputs[sample * expected.size() + i], expected[i],
                    1e-9 * (1 + std::abs(expected[i])));
      }
    }
  }
}

TEST(DenseNetworkTest, GivesTheGradientThatFiniteDifferencesGive) {
  const std::vector<size_t> unit_counts = {150, 6, 5, 2};
  const size_t samples = 7;
  DenseNetwork network(unit_counts, samples);
  std::vector<double> parameters(network.parameter_count());
  network.Initialize(3, absl::MakeSpan(parameters));
  const std::vector<double> inputs = RandomNumbers(samples * 150, 4);
  const std::vector<double> targets = RandomNumbers(samples * 2, 5);
  std::copy(inputs.begin(), inputs.end(), network.inputs());
  std::vector<double> gradient(parameters.size());
  const auto loss = [&] {
    network.Forward(parameters, samples);
    return network.Backward(parameters, targets, absl::MakeSpan(gradient));
  };
  loss();
  const std::vector<double> analytical = gradient;
  double largest = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double step = 1e-6;
    const double original = parameters[i];
    parameters[i] = original + step;
    const double above = loss();
    parameters[i] = original - step;
    const double below = loss();
    parameters[i] = original;
    EXPECT_NEAR(analytical[i], (above - below) / (2 * step), 1e-7) << i;
    largest = std::max(largest, std::abs(analytical[i]));
  }
  // Else everything above could be zero.
  EXPECT_GT(largest, 0.1);
}

TEST(DenseNetworkTest, InitializesByTheSeedAlone) {
  DenseNetwork network({4, 3, 1}, 2);
  std::vector<double> first(network.parameter_count());
  std::vector<double> second(network.parameter_count());
  network.Initialize(1, absl::MakeSpan(first));
  network.Initialize(1, absl::MakeSpan(second));
  EXPECT_EQ(first, second);
  network.Initialize(2, absl::MakeSpan(second));
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

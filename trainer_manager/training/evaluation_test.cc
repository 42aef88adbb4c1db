#include "footprint/trainer_manager/training/evaluation.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr size_t kFeatures = 3;
constexpr size_t kClasses = 4;

Network Classifier(int64_t batch, bool ignores = true) {
  SoftmaxOptions options;
  if (ignores) options.ignored_label = -1;
  Network network;
  network.AddInput("rows", {{batch, kFeatures}});
  network.AddLayer("fc", FullyConnected(kClasses), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(options), {"fc"});
  return network;
}

std::shared_ptr<Parameters> MakeParameters(const Network& network) {
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions());
  EXPECT_THAT(plan, IsOk());
  return *Parameters::Create(*plan, 5);
}

struct Rows {
  explicit Rows(size_t count) {
    RandomSequence random(2);
    for (size_t i = 0; i < count * kFeatures; ++i) {
      features.push_back(random.SignedUnit());
    }
    for (size_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
    }
  }
  DataSet in_memory() const {
    return DataSet::InMemory({absl::MakeConstSpan(features)},
                             absl::MakeConstSpan(labels),
                             static_cast<int64_t>(labels.size()));
  }
  DataSet by_function() const {
    return DataSet::ReadBy(
        static_cast<int64_t>(labels.size()),
        [this](int64_t row, absl::Span<const DataSet::Part> parts) {
          const size_t r = static_cast<size_t>(row);
          for (size_t f = 0; f < kFeatures; ++f) {
            parts[0].Floats()[f] = features[r * kFeatures + f];
          }
          parts[1].Indices()[0] = labels[r];
          return absl::OkStatus();
        });
  }
  std::vector<float> features;
  std::vector<int32_t> labels;
};

// Computes the metrics of all rows, one row at a time.
Metrics Oracle(const Rows& rows, const Parameters& parameters) {
  const auto weight = *parameters.Find("fc.weight");
  const auto bias = *parameters.Find("fc.bias");
  double loss = 0;
  double right = 0;
  for (size_t r = 0; r < rows.labels.size(); ++r) {
    std::vector<double> logits;
    for (size_t c = 0; c < kClasses; ++c) {
      double logit = bias[c];
      for (size_t f = 0; f < kFeatures; ++f) {
        logit += static_cast<double>(rows.features[r * kFeatures + f]) *
                 weight[f * kClasses + c];
      }
      logits.push_back(logit);
    }
    double sum = 0;
    size_t best = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      sum += std::exp(logits[c]);
      if (logits[c] > logits[best]) best = c;
    }
    const size_t label = static_cast<size_t>(rows.labels[r]);
    loss += std::log(sum) - logits[label];
    if (best == label) ++right;
  }
  const double count = static_cast<double>(rows.labels.size());
  return {loss / count, right / count};
}

TEST(EvaluationTest, IsThatOfEachRowByItself) {
  for (const size_t count : {1, 7, 8, 9, 40, 41}) {
    SCOPED_TRACE(count);
    const Rows rows(count);
    const Network network = Classifier(8);
    const auto parameters = MakeParameters(network);
    const Metrics expected = Oracle(rows, *parameters);
    for (const DataSet& data : {rows.in_memory(), rows.by_function()}) {
      auto evaluation = Evaluation::Create(network, {}, {}, parameters, data);
      ASSERT_THAT(evaluation, IsOk());
      for (int run = 0; run < 2; ++run) {
        const auto metrics = evaluation->Run();
        ASSERT_THAT(metrics, IsOk());
        EXPECT_NEAR(metrics->loss, expected.loss, 1e-6);
        EXPECT_EQ(metrics->accuracy, expected.accuracy);
      }
    }
  }
}

TEST(EvaluationTest, LabelsThatAreNoClassesHaveNoAccuracy) {
  SquaredErrorOptions options;
  options.ignored_label = -99;
  Network network;
  network.AddInput("rows", {{2, 1}});
  network.AddLayer("fc", FullyConnected(1), {"rows"});
  network.AddLayer("loss", MeanSquaredError(options), {"fc"});
  const auto parameters = MakeParameters(network);
  (*parameters->Find("fc.weight"))[0] = 2;
  const std::vector<float> rows = {1, 2, 3};
  const std::vector<float> labels = {1, 4, 9};
  auto evaluation =
      Evaluation::Create(network, {}, {}, parameters,
                         DataSet::InMemory({absl::MakeConstSpan(rows)},
                                           absl::MakeConstSpan(labels), 3));
  ASSERT_THAT(evaluation, IsOk());
  const auto metrics = evaluation->Run();
  ASSERT_THAT(metrics, IsOk());
  EXPECT_FLOAT_EQ(static_cast<float>(metrics->loss), (1 + 0 + 9) / 3.0f);
  EXPECT_FALSE(metrics->accuracy.has_value());
}

TEST(EvaluationTest, CountsLabelsThatAreNotIgnored) {
  const float predictions[] = {1, 2, 3, 1, 2, 2, 0, 0};
  const int32_t labels[] = {1, 1, 0, -1};
  const LabelCount all = CountLabels(predictions, labels, absl::nullopt);
  EXPECT_EQ(all.counted, 4);
  EXPECT_EQ(all.right, 2);  // the first and the third, whose two are equal
  EXPECT_EQ(CountLabels(predictions, labels, -1.0f).counted, 3);
  EXPECT_EQ(CountLabels({}, {}, -1.0f).counted, 0);
}

TEST(EvaluationTest, WhatCannotBeEvaluatedIsRefused) {
  const Rows rows(9);
  const auto refusal = [&](const Network& network) {
    const auto evaluation = Evaluation::Create(
        network, {}, {}, MakeParameters(Classifier(8)), rows.in_memory());
    EXPECT_THAT(evaluation.status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(evaluation.status().message());
  };
  EXPECT_THAT(refusal(Classifier(8, /*ignores=*/false)),
              HasSubstr("ignores no label"));
  Network no_loss;
  no_loss.AddInput("rows", {{8, kFeatures}});
  no_loss.AddLayer("fc", FullyConnected(kClasses), {"rows"});
  EXPECT_THAT(refusal(no_loss), HasSubstr("has no loss"));
}

}  // namespace
}  // namespace footprint

// The README's examples of benchmarks over memos. A test builds and runs them.

#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"

namespace {

using footprint::Axis;
using footprint::MakeAxis;
using footprint::PlannedBenchmarks;
using footprint::Product;

struct Model {
  std::vector<float> weights;
};
struct Data {
  std::vector<float> rows;
};

constexpr int64_t kModelBytes = 4 << 20;
constexpr int64_t kDataBytes = 2 << 20;

absl::StatusOr<Model> ReadModel(const std::string& /*path*/) {
  return Model{std::vector<float>(kModelBytes / sizeof(float), 0.5f)};
}

absl::StatusOr<Data> ReadData(const std::string& /*path*/) {
  return Data{std::vector<float>(kDataBytes / sizeof(float), 2.0f)};
}

float Predict(const Model& model, const Data& data) {
  return std::inner_product(data.rows.begin(), data.rows.end(),
                            model.weights.begin(), 0.0f);
}

// region each
// Runs three models one after the other. One is alive at a time, if no later
// product needs them again or cells may be reordered.
absl::Status RegisterEachModel(const Axis<Model>& models) {
  return Product(
             "BM_SumWeights",
             [](benchmark::State& state, const Model& model) {
               for (auto _ : state) {
                 benchmark::DoNotOptimize(std::accumulate(
                     model.weights.begin(), model.weights.end(), 0.0f));
               }
             },
             models)
      .status();
}
// endregion

// region product
// Runs every model with every data set: five loads, and at most three values
// alive if no other product runs.
absl::Status RegisterEveryPair(const Axis<Model>& models,
                               const Axis<Data>& data) {
  return Product(
             "BM_Predict",
             [](benchmark::State& state, const Model& model, const Data& data) {
               for (auto _ : state) {
                 benchmark::DoNotOptimize(Predict(model, data));
               }
             },
             models, data)
      .status();
}
// endregion

absl::Status RegisterAll() {
  const absl::StatusOr<Axis<Model>> models = MakeAxis<Model>(
      "model", {"small", "middle", "large"}, ReadModel, kModelBytes);
  if (!models.ok()) return models.status();
  const absl::StatusOr<Axis<Data>> data =
      MakeAxis<Data>("data", {"day", "week"}, ReadData, kDataBytes);
  if (!data.ok()) return data.status();
  const absl::Status status = RegisterEachModel(*models);
  if (!status.ok()) return status;
  return RegisterEveryPair(*models, *data);
}

}  // namespace

// region main
int main(int argc, char** argv) {
  PlannedBenchmarks planned(&argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const absl::Status registered = RegisterAll();
  if (!registered.ok()) {
    std::cerr << registered << "\n";
    return 2;
  }
  planned.Run(nullptr);
  return planned.ExitStatus();
}
// endregion

// The second example of nnbench's guide to memos, in C++. A test builds and
// runs it. Its models and its data are files of floats.

#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"

namespace {

using footprint::MakeAxis;

using Array = std::vector<float>;

// In the guide, this function and Dot are numpy's.
absl::StatusOr<Array> LoadArray(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return absl::NotFoundError(path + ": no such file");
  Array array(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(array.data()),
            static_cast<std::streamsize>(array.size() * sizeof(float)));
  if (!file) return absl::DataLossError(path + ": cannot be read");
  return array;
}

float Dot(const Array& left, const Array& right) {
  return std::inner_product(right.begin(), right.end(), left.begin(), 0.0f);
}

}  // namespace

// region guide
struct Model {
  Array array;
  float Apply(const Array& data) const { return Dot(array, data); }
};
absl::StatusOr<Model> LoadModel(const std::string& path) {
  absl::StatusOr<Array> array = LoadArray(path);
  if (!array.ok()) return array.status();
  return Model{*std::move(array)};
}
void Accuracy(benchmark::State& state, const Model& model, const Array& data) {
  for (auto _ : state) benchmark::DoNotOptimize(model.Apply(data));
}
int main(int argc, char** argv) {
  return footprint::RunPlannedBenchmarks(argc, argv, [] {
    const auto models =
        MakeAxis<Model>("model", {"model1", "model2", "model3"}, LoadModel);
    const auto data = MakeAxis<Array>("data", {"data"}, LoadArray);
    return Product("accuracy", Accuracy, models, data).status();
  });
}
// endregion

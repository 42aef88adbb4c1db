// Compares the kernels with what the machine can do: products of 512 tokens
// with the peak of multiply-adds in registers, and products of one token with
// the memory's bandwidth. Both peaks are measured in the same run, before each
// benchmark, on the same thread.
//
// Counters: share_of_peak, and GFLOP/s or GB/s, in processor time. Weights and
// activations are set up outside the loop. One thread; says nothing about
// reading weights from a file.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/lowmem/kernels/machine_peak.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {
namespace {

std::vector<float> Numbers(int64_t count) {
  std::vector<float> numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(i % 17 - 8) / 64;
  }
  return numbers;
}

// Returns the first number that begins a cache line.
float* Aligned(std::vector<float>& numbers) {
  float* data = numbers.data();
  while (reinterpret_cast<uintptr_t>(data) % 64 != 0) ++data;
  return data;
}

void BM_MultiplyPanels(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const int64_t columns = state.range(1);
  const int64_t panels = PanelCount(state.range(2));
  const std::vector<float> weights = Numbers(rows * columns);
  std::vector<float> input = Numbers(columns * panels * kPanelTokens + 16);
  std::vector<float> output(rows * panels * kPanelTokens + 16);
  const double peak = MeasureMultiplyAddFlops();
  const double begin = ThreadSeconds();
  for (auto _ : state) {
    MultiplyPanels({weights.data(), columns, 1}, rows, columns,
                   {Aligned(input), columns * kPanelTokens}, panels, {},
                   {Aligned(output), kPanelTokens, rows * kPanelTokens});
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(rows) * columns * panels *
                       kPanelTokens * static_cast<double>(state.iterations()) /
                       (ThreadSeconds() - begin);
  state.counters["gflops"] = 1e-9 * flops;
  state.counters["peak_gflops"] = 1e-9 * peak;
  state.counters["share_of_peak"] = flops / peak;
}
// The tiles of a large BERT's streaming run, and its largest matrix whole.
BENCHMARK(BM_MultiplyPanels)
    ->ArgNames({"rows", "columns", "tokens"})
    ->Args({64, 1024, 512})
    ->Args({256, 256, 512})
    ->Args({4096, 1024, 512})
    ->Args({64, 1024, 128})
    ->Args({64, 1024, 32});

void BM_MultiplyVector(benchmark::State& state) {
  constexpr DType kTypes[] = {DType::kF32,  DType::kBF16, DType::kF16,
                              DType::kQ8_0, DType::kQ4_0, DType::kQ5_0,
                              DType::kQ4K,  DType::kQ5K,  DType::kQ6K};
  const DType type = kTypes[state.range(0)];
  const int64_t megabytes = state.range(1);
  const int64_t columns = 1024;
  const std::vector<float> weights = Numbers(megabytes * 1000000 / 4);
  const int64_t row_bytes = BytesOfElements(type, columns);
  const int64_t rows = megabytes * 1000000 / row_bytes;
  const std::vector<float> input = Numbers(columns);
  std::vector<float> output(rows);
  const double peak = MeasureReadBandwidth(weights);
  const double begin = ThreadSeconds();
  for (auto _ : state) {
    MultiplyVector(type, weights.data(), columns, rows, columns, input.data(),
                   {}, output.data(), 1);
    benchmark::ClobberMemory();
  }
  const double seconds =
      (ThreadSeconds() - begin) / static_cast<double>(state.iterations());
  const double bandwidth = static_cast<double>(rows * row_bytes) / seconds;
  state.counters["giga_weights_per_second"] =
      1e-9 * static_cast<double>(rows * columns) / seconds;
  state.counters["gigabytes_per_second"] = 1e-9 * bandwidth;
  state.counters["peak_gigabytes_per_second"] = 1e-9 * peak;
  state.counters["share_of_peak"] = bandwidth / peak;
}
BENCHMARK(BM_MultiplyVector)
    ->ArgNames({"type", "megabytes"})
    ->Args({0, 200})
    ->Args({1, 200})
    ->Args({2, 200})
    ->Args({3, 100})
    ->Args({4, 100})
    ->Args({5, 100})
    ->Args({6, 100})
    ->Args({7, 100})
    ->Args({8, 100});

void BM_AddLayerNorm(benchmark::State& state) {
  const int64_t features = state.range(0);
  std::vector<float> hidden = Numbers(features * kPanelTokens + 16);
  const std::vector<float> vector = Numbers(features);
  for (auto _ : state) {
    AddLayerNorm(nullptr, features, 1, {vector.data(), vector.data(), 1e-5f},
                 Aligned(hidden));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * features * kPanelTokens);
}
BENCHMARK(BM_AddLayerNorm)->ArgName("features")->Arg(1024);

void BM_ScaledSoftmax(benchmark::State& state) {
  const int64_t keys = state.range(0);
  const std::vector<float> fresh = Numbers(keys * kPanelTokens);
  std::vector<float> scores(keys * kPanelTokens + 16);
  for (auto _ : state) {
    std::copy(fresh.begin(), fresh.end(), Aligned(scores));
    ScaledSoftmax(keys, keys, 0.125f, Aligned(scores));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * keys * kPanelTokens);
}
BENCHMARK(BM_ScaledSoftmax)->ArgName("keys")->Arg(512);

void BM_Activate(benchmark::State& state) {
  const auto activation = static_cast<Activation>(state.range(0));
  const std::vector<float> fresh = Numbers(4096);
  std::vector<float> numbers(4096);
  for (auto _ : state) {
    std::copy(fresh.begin(), fresh.end(), numbers.begin());
    Activate(activation, 4096, numbers.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 4096);
}
BENCHMARK(BM_Activate)
    ->ArgName("activation")
    ->Arg(static_cast<int>(Activation::kGelu))
    ->Arg(static_cast<int>(Activation::kGeluTanh));

}  // namespace
}  // namespace footprint

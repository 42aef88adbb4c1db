// The two scenarios that memos are for, run by Google Benchmark: three models,
// one after the other, and three models by two data sets. The figures to look
// at are how often values are loaded, and how much memory they take together;
// the loops do next to nothing. Standard error gives the peak of the resident
// set above the one that the process had before.
//
//   --model_mebibytes=40   of each model; a data set has half as much
//   --block_kibibytes=1024 of the blocks that a value is made of; 0: one block
//   --block_alignment=0    of their addresses in bytes; 0: that of `new`
//
// For a block of 16 KiB or more, unless its alignment exceeds a cache line,
// jemalloc adds a page to vary where in a page the block begins. This is
// resident memory that belongs to no live byte: 6 % for blocks of 64 KiB.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "benchmark/benchmark.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/memo/memo.h"
#include "footprint/memo/product/planned_benchmarks.h"
#include "footprint/memo/product/product.h"
#include "footprint/profiling/google_benchmark/benchmark_profiler.h"

namespace footprint {
namespace {

struct Sizes {
  int64_t model_mebibytes = 40;
  int64_t block_kibibytes = 1024;
  int64_t block_alignment = 0;
};

// A value made of written blocks, like weights or records.
class Blocks {
 public:
  Blocks(int64_t bytes, int64_t block_bytes, int64_t alignment)
      : alignment_(static_cast<std::align_val_t>(
            alignment > 0 ? alignment : __STDCPP_DEFAULT_NEW_ALIGNMENT__)) {
    const auto block_size = static_cast<size_t>(block_bytes);
    blocks_.reserve(static_cast<size_t>(bytes / block_bytes));
    while (blocks_.size() < blocks_.capacity()) {
      void* const block = ::operator new(block_size, alignment_);
      blocks_.push_back(static_cast<char*>(std::memset(block, 1, block_size)));
    }
  }
  Blocks(Blocks&&) = default;
  Blocks& operator=(Blocks&&) = delete;
  ~Blocks() {
    for (char* block : blocks_) ::operator delete(block, alignment_);
  }

  int64_t FirstBytes() const {
    int64_t sum = 0;
    for (const char* block : blocks_) sum += *block;
    return sum;
  }

 private:
  std::align_val_t alignment_;
  std::vector<char*> blocks_;
};

struct Model {
  Blocks blocks;
};
struct Data {
  Blocks blocks;
};

// Google Benchmark reports flags that it does not know, so these are taken
// first.
void TakeSize(absl::string_view name, int* argc, char** argv, int64_t* size) {
  const auto is_ours = [&](const char* argument) {
    absl::string_view text = argument;
    return absl::ConsumePrefix(&text, name) && absl::SimpleAtoi(text, size);
  };
  *argc =
      static_cast<int>(std::remove_if(argv + 1, argv + *argc, is_ours) - argv);
}

template <typename T>
absl::StatusOr<Axis<T>> MakeAxis(const std::string& name, int count,
                                 int64_t bytes, const Sizes& sizes) {
  Axis<T> axis{name, {}};
  const int64_t block_bytes =
      sizes.block_kibibytes == 0 ? bytes : sizes.block_kibibytes * 1024;
  const int64_t table_bytes =
      bytes / block_bytes * static_cast<int64_t>(sizeof(char*));
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<Memo<T>> memo = MakeMemo<T>(
        absl::StrCat(name, i),
        [bytes, block_bytes,
         alignment = sizes.block_alignment]() -> absl::StatusOr<T> {
          return T{Blocks(bytes, block_bytes, alignment)};
        },
        bytes + table_bytes);
    if (!memo.ok()) return memo.status();
    axis.memos.push_back(*memo);
  }
  return axis;
}

void PredictEachModel(benchmark::State& state, const Model& model) {
  for (auto _ : state) benchmark::DoNotOptimize(model.blocks.FirstBytes());
}

void PredictProduct(benchmark::State& state, const Model& model,
                    const Data& data) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.blocks.FirstBytes());
    benchmark::DoNotOptimize(data.blocks.FirstBytes());
  }
}

absl::Status RegisterScenarios(const Sizes& sizes) {
  const int64_t model_bytes = sizes.model_mebibytes << 20;
  // The first scenario has its own models, since the second would otherwise
  // keep them alive.
  const auto alone = MakeAxis<Model>("alone", 3, model_bytes, sizes);
  if (!alone.ok()) return alone.status();
  const auto models = MakeAxis<Model>("model", 3, model_bytes, sizes);
  if (!models.ok()) return models.status();
  const auto data = MakeAxis<Data>("data", 2, model_bytes / 2, sizes);
  if (!data.ok()) return data.status();
  const auto each = Product("BM_PredictEachModel", PredictEachModel, *alone);
  if (!each.ok()) return each.status();
  return Product("BM_PredictProduct", PredictProduct, *models, *data).status();
}

// Resets the kernel's high-water mark to what is resident now.
void BeginResidentPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

void ReportResidentPeak(const MemoTrace& trace, int64_t base_bytes) {
  const int64_t above_bytes = ReadResidentBytes().peak_bytes - base_bytes;
  std::fprintf(stderr,
               "memo: %lld loads, %lld of them planned; peak %lld bytes "
               "planned, %lld measured, resident above base %lld (%.4f of the "
               "plan)\n",
               static_cast<long long>(trace.load_count()),
               static_cast<long long>(trace.plan().load_count()),
               static_cast<long long>(trace.plan().peak_bytes()),
               static_cast<long long>(trace.peak_bytes()),
               static_cast<long long>(above_bytes),
               static_cast<double>(above_bytes) /
                   static_cast<double>(trace.plan().peak_bytes()));
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  footprint::Sizes sizes;
  footprint::TakeSize("--model_mebibytes=", &argc, argv,
                      &sizes.model_mebibytes);
  footprint::TakeSize("--block_kibibytes=", &argc, argv,
                      &sizes.block_kibibytes);
  footprint::TakeSize("--block_alignment=", &argc, argv,
                      &sizes.block_alignment);
  footprint::PlannedBenchmarks planned(&argc, argv);
  const absl::Status registered = footprint::RegisterScenarios(sizes);
  if (!registered.ok()) {
    std::cerr << registered << "\n";
    return 2;
  }
  footprint::BeginResidentPeak();
  const int64_t base_bytes = footprint::ReadResidentBytes().now_bytes;
  const int status = footprint::ProfileBenchmarks(
      argc, argv, planned.runner(), [&] { return planned.notes(); },
      planned.sharing());
  if (planned.trace().load_count() > 0) {
    footprint::ReportResidentPeak(planned.trace(), base_bytes);
  }
  return planned.ExitStatus(status);
}

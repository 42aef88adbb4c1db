// Measures the whole life of a model: it is opened from its folder, planned,
// started, run once and destroyed. The figure that counts is memory: the arena
// is mapped, resident weights are mapped or on the heap, and the rest is the
// file's index and the config. The small checkpoints are made from a seed
// beforehand.
//
// Time includes opening and starting; lowmem_run measures how fast large models
// run. It uses one worker, so that memory repeats bit for bit.
//
//   backend: 0 resident, 1 pread, 2 direct, 3 mmap
//   budget_kib: 0 is the smallest possible budget

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/lowmem/checkpoints/checkpoint_generator.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {
namespace {

// A folder with a checkpoint, removed at the end of the process.
class Checkpoint {
 public:
  explicit Checkpoint(const CheckpointShape& shape) {
    const char* const parent = getenv("TMPDIR");
    folder_ =
        absl::StrCat(parent == nullptr ? "/tmp" : parent, "/footprint_XXXXXX");
    if (mkdtemp(&folder_[0]) == nullptr) {
      status_ = absl::UnavailableError(
          absl::StrCat(folder_, ": cannot be made; set TMPDIR"));
      folder_.clear();
      return;
    }
    status_ = WriteCheckpoint(folder_, shape, {});
  }
  ~Checkpoint() {
    if (folder_.empty()) return;
    for (const char* name : {"/config.json", "/model.safetensors"}) {
      unlink((folder_ + name).c_str());
    }
    rmdir(folder_.c_str());
  }

  const absl::Status& status() const { return status_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  absl::Status status_;
};

CheckpointShape Shape(ModelFamily family) {
  CheckpointShape shape;
  shape.family = family;
  shape.vocabulary = 2000;
  shape.positions = 128;
  shape.hidden = 256;
  shape.layers = 6;
  shape.heads = 4;
  shape.intermediate = 1024;
  shape.token_types = 2;
  return shape;
}

std::vector<int32_t> Ids(int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<int32_t>(i * 7919 % 2000));
  }
  return ids;
}

template <class Model>
absl::StatusOr<int64_t> Budget(const Model& model, int64_t tokens,
                               int64_t kibibytes) {
  if (kibibytes > 0) return kibibytes * 1024;
  return model.MinBudgetBytes(tokens, /*workers=*/1);
}

absl::Status EncodeOnce(const std::string& folder, WeightBackend backend,
                        const std::vector<int32_t>& ids, int64_t kibibytes) {
  const auto encoder = Encoder::Open(folder, backend);
  if (!encoder.ok()) return encoder.status();
  const int64_t tokens = static_cast<int64_t>(ids.size());
  const auto budget = Budget(**encoder, tokens, kibibytes);
  if (!budget.ok()) return budget.status();
  const auto plan = (*encoder)->Plan(tokens, /*workers=*/1, *budget);
  if (!plan.ok()) return plan.status();
  const auto run = (*encoder)->Start(*plan);
  if (!run.ok()) return run.status();
  return (*run)->Forward(ids, {}).status();
}

absl::Status GenerateOnce(const std::string& folder, WeightBackend backend,
                          const std::vector<int32_t>& ids, int64_t kibibytes) {
  constexpr int64_t kGenerated = 4;
  const auto decoder = Decoder::Open(folder, backend);
  if (!decoder.ok()) return decoder.status();
  const int64_t positions = static_cast<int64_t>(ids.size()) + kGenerated - 1;
  const auto budget = Budget(**decoder, positions, kibibytes);
  if (!budget.ok()) return budget.status();
  const auto plan = (*decoder)->Plan(positions, /*workers=*/1, *budget);
  if (!plan.ok()) return plan.status();
  const auto run = (*decoder)->Start(*plan);
  if (!run.ok()) return run.status();
  return GenerateGreedily(**run, ids, kGenerated, [](int32_t) {});
}

template <class Once>
void RunModel(benchmark::State& state, ModelFamily family, const Once& once) {
  const Checkpoint checkpoint(Shape(family));
  absl::Status status = checkpoint.status();
  const auto backend = static_cast<WeightBackend>(state.range(0));
  const std::vector<int32_t> ids = Ids(state.range(1));
  for (auto _ : state) {
    if (status.ok()) {
      status = once(checkpoint.folder(), backend, ids, state.range(2));
    }
  }
  if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
}

void BM_Encode(benchmark::State& state) {
  RunModel(state, ModelFamily::kBert, EncodeOnce);
}
// The file has 20.4 MiB of weights.
BENCHMARK(BM_Encode)
    ->ArgNames({"backend", "tokens", "budget_kib"})
    ->Args({0, 128, 0})
    ->Args({1, 128, 0})
    ->Args({1, 128, 1024})
    ->Args({2, 128, 0})
    ->Args({2, 128, 1024})
    ->Args({3, 128, 0})
    ->Args({0, 1, 0})
    ->Args({1, 1, 0});

void BM_Generate(benchmark::State& state) {
  RunModel(state, ModelFamily::kGpt2, GenerateOnce);
}
BENCHMARK(BM_Generate)
    ->ArgNames({"backend", "tokens", "budget_kib"})
    ->Args({0, 32, 0})
    ->Args({1, 32, 0})
    ->Args({1, 32, 2048})
    ->Args({1, 120, 2048});

}  // namespace
}  // namespace footprint

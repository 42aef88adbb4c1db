// Compares the bytes that runs read with the least that any program reads.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/testing/test_checkpoint.h"
#include "footprint/lowmem/testing/test_decoder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kPasses = 6;

// Bytes that a run of kPasses read, and the bounds of its plan: the least that
// any program reads, and the least that one reads which needs as much workspace
// beside the weights that it keeps. Of these small models the workspace is
// much.
struct Reading {
  int64_t read_bytes = 0;
  int64_t least_bytes = 0;
  int64_t least_with_workspace_bytes = 0;
  // The most that a run reads besides: the blocks of the disk around both ends
  // of each read, in each pass the tile of which only a part is kept, and what
  // was read ahead for a pass that did not come.
  int64_t most_besides_bytes = 0;
};

template <class Plan>
Reading CompareWithBounds(const WeightStore& store, const Plan& plan,
                          const ReadBound& bound) {
  const ReadBound with_workspace = {bound.pass_bytes,
                                    plan.pinned.range.size_bytes};
  const WeightCounters counters = store.counters();
  const int64_t rounding_of_read_bytes =
      store.backend() == WeightBackend::kDirect
          ? 2 * (store.direct_block_bytes() - 1)
          : 0;
  return {counters.bytes_read, bound.LeastBytes(kPasses),
          with_workspace.LeastBytes(kPasses),
          counters.reads * rounding_of_read_bytes +
              (kPasses - 1) * plan.tile_bytes + plan.slots.size_bytes};
}

// Expects that nothing was read twice in a pass, nor what was kept, but for
// what is rounded up and for rows of tables.
void ExpectHardlyMore(const Reading& reading, WeightBackend backend,
                      int64_t budget_bytes) {
  constexpr double kMostRatio = 1.02;
  EXPECT_LE(
      static_cast<double>(reading.read_bytes - reading.most_besides_bytes),
      kMostRatio * static_cast<double>(reading.least_with_workspace_bytes))
      << WeightBackendName(backend) << ", budget " << budget_bytes;
  EXPECT_GE(reading.read_bytes, reading.least_bytes) << "less than the least";
}

// Reads a token of each sequence in each pass.
Reading RunDecoder(const std::string& folder, WeightBackend backend,
                   int64_t budget_bytes, int64_t sequences = 1) {
  const auto decoder = Decoder::Open(folder, backend);
  EXPECT_THAT(decoder, IsOk());
  const auto plan =
      (*decoder)->Plan(kPasses, /*workers=*/2, budget_bytes, sequences);
  EXPECT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  EXPECT_THAT(run, IsOk());
  for (int32_t id = 0; id < kPasses; ++id) {
    std::vector<SequenceTokens> inputs;
    for (int64_t sequence = 0; sequence < sequences; ++sequence) {
      inputs.push_back({sequence, absl::MakeConstSpan(&id, 1)});
    }
    EXPECT_THAT((*run)->AppendTogether(inputs), IsOk());
  }
  EXPECT_EQ((*run)->passes(), kPasses);
  return CompareWithBounds((*decoder)->store(), *plan,
                           (*decoder)->ComputeReadBound(*plan));
}

// Reads the same ids in each pass.
Reading RunEncoder(const std::string& folder, WeightBackend backend,
                   int64_t budget_bytes) {
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto encoder = Encoder::Open(folder, backend);
  EXPECT_THAT(encoder, IsOk());
  const auto plan = (*encoder)->Plan(static_cast<int64_t>(ids.size()),
                                     /*workers=*/2, budget_bytes);
  EXPECT_THAT(plan, IsOk());
  const auto run = (*encoder)->Start(*plan);
  EXPECT_THAT(run, IsOk());
  for (int64_t pass = 0; pass < kPasses; ++pass) {
    EXPECT_THAT((*run)->Forward(ids, {}), IsOk());
  }
  return CompareWithBounds((*encoder)->store(), *plan,
                           (*encoder)->ComputeReadBound(*plan));
}

// 25 MB in layers, and an output of 2 MB.
DecoderConfig MakeDecoderConfig() {
  DecoderConfig config;
  config.layers = 8;
  config.hidden = 256;
  config.heads = 4;
  config.intermediate = 1024;
  config.vocabulary = 2000;
  config.positions = 16;
  return config;
}

EncoderConfig MakeEncoderConfig() {
  EncoderConfig config;
  config.layers = 8;
  config.hidden = 256;
  config.heads = 4;
  config.intermediate = 1024;
  config.vocabulary = 200;
  config.token_types = 2;
  config.positions = 16;
  return config;
}

// The budgets are parts of the weights' 25 MB.
constexpr int64_t kBudgets[] = {3 << 20, 6 << 20, 12 << 20, 18 << 20, 40 << 20};

TEST(LeastReadingTest, DecodersReadHardlyMoreThanTheyMust) {
  const TestDecoder decoder =
      RandomDecoder(MakeDecoderConfig(), DType::kF32, 11);
  const std::string packed =
      WriteDecoder(decoder, DType::kF32, "least_packed", 64);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    for (const int64_t budget_bytes : kBudgets) {
      ExpectHardlyMore(RunDecoder(packed, backend, budget_bytes), backend,
                       budget_bytes);
    }
  }
}

// The bound is that of a pass, of which each sequence gets a token.
TEST(LeastReadingTest, SequencesTogetherReadHardlyMoreThanTheyMust) {
  const TestDecoder decoder =
      RandomDecoder(MakeDecoderConfig(), DType::kF32, 15);
  const std::string packed =
      WriteDecoder(decoder, DType::kF32, "least_together", 64);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    for (const int64_t budget_bytes : {6 << 20, 18 << 20}) {
      ExpectHardlyMore(RunDecoder(packed, backend, budget_bytes, 5), backend,
                       budget_bytes);
    }
  }
}

// The words are a table here, and the output has a matrix of its own.
TEST(LeastReadingTest, SpareMemoryReadsNoPartOfATable) {
  DecoderConfig config = MakeDecoderConfig();
  config.vocabulary = 12000;
  TestDecoder decoder = RandomDecoder(config, DType::kF32, 14);
  decoder.config.ties_output = false;
  decoder.tensors["lm_head.weight"] = decoder.tensors["wte.weight"];
  const std::string folder =
      WriteDecoder(decoder, DType::kF32, "least_untied", 256);
  // Has room for all but 12 MB of words, and for a part of those.
  constexpr int64_t kBudgetBytes = 44 << 20;
  const Reading reading =
      RunDecoder(folder, WeightBackend::kPread, kBudgetBytes);
  const int64_t rows = config.positions + kPasses;
  EXPECT_LE(reading.read_bytes - reading.least_bytes,
            rows * config.hidden * int64_t{sizeof(float)});
  EXPECT_GE(reading.read_bytes, reading.least_bytes) << "less than the least";
}

TEST(LeastReadingTest, EncodersReadHardlyMoreThanTheyMust) {
  const TestCheckpoint checkpoint =
      RandomCheckpoint(MakeEncoderConfig(), DType::kF32, 12);
  const std::string plain =
      WriteCheckpoint(checkpoint, DType::kF32, "least_plain");
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    for (const int64_t budget_bytes : kBudgets) {
      ExpectHardlyMore(RunEncoder(plain, backend, budget_bytes), backend,
                       budget_bytes);
    }
  }
}

// All weights are read when the store is opened, and never again.
TEST(LeastReadingTest, ResidentWeightsAreReadOnce) {
  const TestCheckpoint checkpoint =
      RandomCheckpoint(MakeEncoderConfig(), DType::kBF16, 13);
  const std::string folder =
      WriteCheckpoint(checkpoint, DType::kBF16, "least_resident");
  const auto encoder = Encoder::Open(folder, WeightBackend::kResident);
  ASSERT_THAT(encoder, IsOk());
  const auto plan = (*encoder)->Plan(8, 1, 1 << 20);
  ASSERT_THAT(plan, IsOk());
  const ReadBound bound = (*encoder)->ComputeReadBound(*plan);
  EXPECT_EQ(bound.LeastBytesOfPass(), 0);
  EXPECT_EQ(bound.LeastBytes(9), ComputePassBytes((*encoder)->weights()));
  const int64_t opened_bytes = (*encoder)->store().counters().bytes_read;
  EXPECT_GE(opened_bytes, bound.LeastBytes(9));
  const auto run = (*encoder)->Start(*plan);
  ASSERT_THAT(run, IsOk());
  const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6};
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_THAT((*run)->Forward(ids, {}), IsOk());
  }
  EXPECT_EQ((*encoder)->store().counters().bytes_read, opened_bytes);
}

}  // namespace
}  // namespace footprint

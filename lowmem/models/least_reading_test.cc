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

// Bytes that a run of kPasses read, and the least that it had to read.
struct Reading {
  int64_t read_bytes = 0;
  int64_t least_bytes = 0;

  double ratio() const {
    return static_cast<double>(read_bytes) / static_cast<double>(least_bytes);
  }
};

// Reads a token in each pass.
Reading RunDecoder(const std::string& folder, WeightBackend backend,
                   int64_t budget_bytes) {
  const auto decoder = Decoder::Open(folder, backend);
  EXPECT_THAT(decoder, IsOk());
  const auto plan = (*decoder)->Plan(kPasses, /*workers=*/2, budget_bytes);
  EXPECT_THAT(plan, IsOk());
  const auto run = (*decoder)->Start(*plan);
  EXPECT_THAT(run, IsOk());
  for (int32_t id = 0; id < kPasses; ++id) {
    EXPECT_THAT((*run)->Append(absl::MakeConstSpan(&id, 1)), IsOk());
  }
  return {(*decoder)->store().counters().bytes_read,
          (*decoder)->ComputeReadBound(*plan).LeastBytes(kPasses)};
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
    EXPECT_THAT((*run)->Forward(ids), IsOk());
  }
  return {(*encoder)->store().counters().bytes_read,
          (*encoder)->ComputeReadBound(*plan).LeastBytes(kPasses)};
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
  config.positions = 16;
  return config;
}

// The budgets are parts of the weights' 25 MB.
constexpr int64_t kBudgets[] = {3 << 20, 6 << 20, 12 << 20, 18 << 20, 40 << 20};
// A run of direct reads in small blocks reads so many times the least bytes; in
// blocks of a page more: see direct_read.h.
constexpr double kMostRatio = 1.02;

TEST(LeastReadingTest, DecodersReadHardlyMoreThanTheyMust) {
  const TestDecoder decoder =
      RandomDecoder(MakeDecoderConfig(), DType::kF32, 11);
  const std::string packed =
      WriteDecoder(decoder, DType::kF32, "least_packed", 64);
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    for (const int64_t budget_bytes : kBudgets) {
      const Reading reading = RunDecoder(packed, backend, budget_bytes);
      EXPECT_LE(reading.ratio(), kMostRatio)
          << WeightBackendName(backend) << ", " << budget_bytes << ": "
          << reading.read_bytes << " of " << reading.least_bytes;
      EXPECT_GE(reading.ratio(), 1) << "less than the least";
    }
  }
}

TEST(LeastReadingTest, EncodersReadHardlyMoreThanTheyMust) {
  const TestCheckpoint checkpoint =
      RandomCheckpoint(MakeEncoderConfig(), DType::kF32, 12);
  const std::string plain =
      WriteCheckpoint(checkpoint, DType::kF32, "least_plain");
  for (const WeightBackend backend :
       {WeightBackend::kPread, WeightBackend::kDirect}) {
    for (const int64_t budget_bytes : kBudgets) {
      const Reading reading = RunEncoder(plain, backend, budget_bytes);
      EXPECT_LE(reading.ratio(), kMostRatio)
          << WeightBackendName(backend) << ", " << budget_bytes << ": "
          << reading.read_bytes << " of " << reading.least_bytes;
      EXPECT_GE(reading.ratio(), 1) << "less than the least";
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
}

}  // namespace
}  // namespace footprint

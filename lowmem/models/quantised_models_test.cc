// Models with quantised matrices against the same models with the quantised
// matrices' values as floats: with exact arithmetic the bits are the same,
// whatever the backend, the budget and the threads. With rounded activations
// they are others, and the same among themselves.

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/checkpoints/quantise.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string NewFolder(const std::string& name, const std::string& config) {
  mkdir(TestPath(name).c_str(), 0777);
  WriteTestFile(name + "/config.json", config);
  return TestPath(name);
}

// Writes every tensor of `from` as floats.
void WriteAsFloats(const std::string& from, const std::string& to) {
  const auto store = WeightStore::Open(from, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  std::vector<TensorSpec> specs;
  std::vector<float> all;
  for (const TensorInfo& tensor : (*store)->index().tensors()) {
    specs.push_back({tensor.name, DType::kF32, tensor.shape});
    const auto weight = (*store)->Find(tensor.name);
    const size_t first = all.size();
    all.resize(first + weight->rows() * weight->columns());
    ASSERT_THAT(
        ReadRows(**store, *weight, 0, weight->rows(), all.data() + first),
        IsOk());
  }
  auto writer = SafetensorsWriter::Create(to, specs);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(writer->Append(all.data(), all.size() * sizeof(float)), IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
}

// The golden model quantised, and what that is as floats.
struct Folders {
  std::string quantised;
  std::string floats;
};

Folders MakeFolders(const std::string& golden, DType type) {
  const std::string from =
      absl::StrCat("lowmem/models/testdata/golden_", golden);
  const std::string config = ReadTestFile(from + "/config.json");
  const std::string name = absl::StrCat(golden, DTypeName(type));
  Folders folders = {NewFolder(name, config),
                     NewFolder(name + "_floats", config)};
  QuantiseOptions options;
  options.type = type;
  EXPECT_THAT(Quantise(from + "/model.safetensors",
                       folders.quantised + "/model.gguf", options),
              IsOk());
  WriteAsFloats(folders.quantised + "/model.gguf",
                folders.floats + "/model.safetensors");
  return folders;
}

// Logits after a text, and after one more token.
std::vector<float> LogitsWith(const std::string& folder, WeightBackend backend,
                              int workers, int64_t more_budget,
                              const DecoderOptions& options) {
  const auto decoder = Decoder::Open(folder, backend, options);
  EXPECT_THAT(decoder, IsOk());
  const auto least = (*decoder)->MinBudgetBytes(40, workers);
  EXPECT_THAT(least, IsOk());
  const auto run =
      (*decoder)->Start(*(*decoder)->Plan(40, workers, *least + more_budget));
  EXPECT_THAT(run, IsOk());
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 37; ++i) ids.push_back(i * 7 % 31);
  std::vector<float> logits;
  for (const auto& part : {ids, std::vector<int32_t>{5}}) {
    const auto now = (*run)->Append(part);
    EXPECT_THAT(now, IsOk());
    logits.insert(logits.end(), now->begin(), now->end());
  }
  return logits;
}

std::vector<float> Logits(const std::string& folder, WeightBackend backend,
                          int workers, int64_t more_budget,
                          Arithmetic arithmetic = Arithmetic::kExact) {
  DecoderOptions options;
  options.arithmetic = arithmetic;
  return LogitsWith(folder, backend, workers, more_budget, options);
}

TEST(QuantisedModelsTest, DecodersHaveTheBitsOfTheirWidenedWeights) {
  for (const char* golden : {"llama", "gemma3_text", "phi3"}) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
      const Folders folders = MakeFolders(golden, type);
      const std::vector<float> expected =
          Logits(folders.floats, WeightBackend::kPread, 1, 0);
      for (const WeightBackend backend : kWeightBackends) {
        for (const int workers : {1, 3}) {
          for (const int64_t more : {0, 100 << 10, 8 << 20}) {
            ASSERT_EQ(Logits(folders.quantised, backend, workers, more),
                      expected)
                << golden << " " << DTypeName(type) << " "
                << WeightBackendName(backend) << " " << workers << " " << more;
          }
        }
      }
    }
  }
}

std::vector<float> States(const std::string& folder, WeightBackend backend,
                          int workers, int64_t more_budget,
                          Arithmetic arithmetic = Arithmetic::kExact) {
  const auto encoder = Encoder::Open(folder, backend, arithmetic);
  EXPECT_THAT(encoder, IsOk());
  const auto least = (*encoder)->MinBudgetBytes(20, workers);
  const auto run =
      (*encoder)->Start(*(*encoder)->Plan(20, workers, *least + more_budget));
  EXPECT_THAT(run, IsOk());
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 20; ++i) ids.push_back(i + 3);
  const auto states = (*run)->Forward(ids, {});
  EXPECT_THAT(states, IsOk());
  return {states->begin(), states->end()};
}

TEST(QuantisedModelsTest, EncodersHaveTheBitsOfTheirWidenedWeights) {
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    const Folders folders = MakeFolders("bert", type);
    const std::vector<float> expected =
        States(folders.floats, WeightBackend::kPread, 1, 0);
    for (const WeightBackend backend : kWeightBackends) {
      for (const int workers : {1, 3}) {
        for (const int64_t more : {0, 100 << 10, 8 << 20}) {
          ASSERT_EQ(States(folders.quantised, backend, workers, more), expected)
              << DTypeName(type) << " " << WeightBackendName(backend) << " "
              << workers << " " << more;
        }
      }
    }
  }
}

// The largest difference, as a share of the spread of `expected`.
double LargestShare(const std::vector<float>& values,
                    const std::vector<float>& expected) {
  double largest = 0;
  double squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max<double>(largest, std::fabs(values[i] - expected[i]));
    squares += static_cast<double>(expected[i]) * expected[i];
  }
  return largest / std::sqrt(squares / static_cast<double>(expected.size()));
}

TEST(QuantisedModelsTest, RoundedDecodersHaveTheSameBitsAmongThemselves) {
  for (const char* golden : {"llama", "gemma3_text", "phi3"}) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
      const std::string folder = MakeFolders(golden, type).quantised;
      const std::vector<float> exact =
          Logits(folder, WeightBackend::kPread, 1, 0);
      const std::vector<float> expected =
          Logits(folder, WeightBackend::kPread, 1, 0, Arithmetic::kInt8);
      const double share = LargestShare(expected, exact);
      EXPECT_GT(share, 0) << golden;
      EXPECT_LT(share, 0.1) << golden;
      for (const WeightBackend backend : kWeightBackends) {
        for (const int workers : {1, 3}) {
          for (const int64_t more : {0, 100 << 10, 8 << 20}) {
            ASSERT_EQ(Logits(folder, backend, workers, more, Arithmetic::kInt8),
                      expected)
                << golden << " " << DTypeName(type) << " "
                << WeightBackendName(backend) << " " << workers << " " << more;
          }
        }
      }
    }
  }
}

TEST(QuantisedModelsTest, RoundedEncodersHaveTheSameBitsAmongThemselves) {
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    const std::string folder = MakeFolders("bert", type).quantised;
    const std::vector<float> exact =
        States(folder, WeightBackend::kPread, 1, 0);
    const std::vector<float> expected =
        States(folder, WeightBackend::kPread, 1, 0, Arithmetic::kInt8);
    const double share = LargestShare(expected, exact);
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 0.1);
    for (const WeightBackend backend : kWeightBackends) {
      for (const int workers : {1, 3}) {
        for (const int64_t more : {0, 100 << 10, 8 << 20}) {
          ASSERT_EQ(States(folder, backend, workers, more, Arithmetic::kInt8),
                    expected)
              << DTypeName(type) << " " << WeightBackendName(backend) << " "
              << workers << " " << more;
        }
      }
    }
  }
}

// Starts a run with rounded activations in the least budget.
struct RoundedRun {
  explicit RoundedRun(const std::string& folder, int workers) {
    DecoderOptions options;
    options.arithmetic = Arithmetic::kInt8;
    decoder = *Decoder::Open(folder, WeightBackend::kPread, options);
    run = *decoder->Start(
        *decoder->Plan(40, workers, *decoder->MinBudgetBytes(40, workers)));
  }

  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<DecoderRun> run;
};

// Scores the next token of each token from the logits that Append returns, in
// double precision.
std::vector<double> ScoresOfLogits(const std::string& folder,
                                   const std::vector<int32_t>& ids,
                                   const std::vector<int32_t>& next) {
  const RoundedRun rounded(folder, 1);
  std::vector<double> scores;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto logits = rounded.run->Append({ids[i]});
    EXPECT_THAT(logits, IsOk());
    double sum = 0;
    for (const float logit : *logits) sum += std::exp(logit);
    scores.push_back((*logits)[next[i]] - std::log(sum));
  }
  return scores;
}

// A token by itself, tokens of a part of a panel, and of several panels. Among
// others a token's floats may differ in their last bits, which moves a rounded
// activation by a whole step where it lies between two.
TEST(QuantisedModelsTest, RoundedScoresAreThoseOfRoundedLogits) {
  for (const char* golden : {"llama", "gemma3_text", "phi3", "gpt2"}) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
      const std::string folder = MakeFolders(golden, type).quantised;
      for (const int32_t count : {1, 5, 37}) {
        std::vector<int32_t> ids, next;
        for (int32_t i = 0; i < count; ++i) {
          ids.push_back((i * 7 + 3) % 24);
          next.push_back((i * 5 + 2) % 24);
        }
        const std::vector<double> expected = ScoresOfLogits(folder, ids, next);
        for (const int workers : {1, 3}) {
          const RoundedRun rounded(folder, workers);
          std::vector<double> scores(ids.size());
          ASSERT_THAT(
              rounded.run->AppendForScores(ids, next, absl::MakeSpan(scores)),
              IsOk());
          for (size_t i = 0; i < ids.size(); ++i) {
            ASSERT_NEAR(scores[i], expected[i], count == 1 ? 2e-5 : 0.02)
                << golden << " " << DTypeName(type) << ", token " << i << " of "
                << count << ", " << workers << " workers";
          }
        }
      }
    }
  }
}

// Rounded keys and values: other bits than those of floats, and the same among
// themselves.
TEST(QuantisedModelsTest, RoundedCachesHaveTheSameBitsAmongThemselves) {
  for (const char* golden : {"llama", "gemma3_text"}) {
    const std::string folder = MakeFolders(golden, DType::kQ8_0).quantised;
    const std::vector<float> exact =
        Logits(folder, WeightBackend::kPread, 1, 0);
    for (const CacheType type : {CacheType::kF16, CacheType::kQ8_0}) {
      DecoderOptions options;
      options.cache_type = type;
      const auto logits = [&](WeightBackend backend, int workers,
                              int64_t more) {
        return LogitsWith(folder, backend, workers, more, options);
      };
      const std::vector<float> expected = logits(WeightBackend::kPread, 1, 0);
      const double share = LargestShare(expected, exact);
      EXPECT_GT(share, 0) << golden;
      EXPECT_LT(share, type == CacheType::kF16 ? 0.003 : 0.05) << golden;
      for (const WeightBackend backend : kWeightBackends) {
        for (const int workers : {1, 3}) {
          for (const int64_t more : {0, 100 << 10, 8 << 20}) {
            ASSERT_EQ(logits(backend, workers, more), expected)
                << golden << " " << CacheTypeName(type) << " "
                << WeightBackendName(backend) << " " << workers << " " << more;
          }
        }
      }
    }
  }
}

// The plan has the memory that rounding saves.
TEST(QuantisedModelsTest, RoundedCachesTakeLess) {
  const std::string folder = MakeFolders("llama", DType::kQ8_0).quantised;
  std::vector<int64_t> bytes;
  for (const CacheType type :
       {CacheType::kF32, CacheType::kF16, CacheType::kQ8_0}) {
    DecoderOptions options;
    options.cache_type = type;
    const auto decoder = Decoder::Open(folder, WeightBackend::kPread, options);
    ASSERT_THAT(decoder, IsOk());
    const auto plan = (*decoder)->Plan(64, 1, 8 << 20);
    ASSERT_THAT(plan, IsOk());
    bytes.push_back(plan->cache.size_bytes);
    // A plan of another kind of cache is not taken.
    const auto other = Decoder::Open(folder, WeightBackend::kPread);
    EXPECT_EQ((*other)->Start(*plan).ok(), type == CacheType::kF32);
  }
  EXPECT_EQ(bytes[1] * 2, bytes[0]);
  EXPECT_LT(bytes[2] * 3, bytes[0]);
}

// A model without quantised weights is multiplied exactly.
TEST(QuantisedModelsTest, FloatsStayExact) {
  const std::string folder = MakeFolders("llama", DType::kQ8_0).floats;
  EXPECT_EQ(Logits(folder, WeightBackend::kPread, 1, 0, Arithmetic::kInt8),
            Logits(folder, WeightBackend::kPread, 1, 0));
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/checkpoints/checkpoint_generator.h"

#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/kernels/half_float.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CheckpointShape Tiny(ModelFamily family) {
  return {family, 50, 16, 24, 2, 3, 40, 2};
}

std::string Folder(const char* name) {
  const std::string folder = TestPath(name);
  mkdir(folder.c_str(), 0777);
  return folder;
}

int64_t Parameters(const CheckpointShape& shape) {
  int64_t bytes = 0;
  const auto tensors = CheckpointTensors(shape, DType::kBF16);
  for (const TensorSpec& tensor : *tensors) {
    bytes += *TensorBytes(tensor.dtype, tensor.shape);
  }
  return bytes / 2;
}

// The expected numbers are those that the models' authors published.
TEST(CheckpointGeneratorTest, HasAsManyParametersAsThePublicModels) {
  const auto parameters = [](const char* name) {
    return Parameters(*CheckpointShapeFromName(name));
  };
  EXPECT_EQ(parameters("bert-base"), 109'482'240);
  EXPECT_EQ(parameters("bert-large"), 335'141'888);
  EXPECT_EQ(parameters("minilm"), 22'713'216);
  EXPECT_EQ(parameters("distilbert"), 66'362'880);
  EXPECT_EQ(parameters("modernbert-base"), 149'014'272);
  EXPECT_EQ(parameters("nomic-embed"), 136'731'648);
  EXPECT_EQ(parameters("embeddinggemma-300m"), 302'863'104);
  EXPECT_EQ(parameters("gpt2"), 124'439'808);
  EXPECT_EQ(parameters("gpt2-large"), 774'030'080);
  EXPECT_EQ(parameters("gpt2-xl"), 1'557'611'200);
  EXPECT_EQ(parameters("smollm2-135m"), 134'515'008);
  EXPECT_EQ(parameters("llama-3.2-1b"), 1'235'814'400);
  EXPECT_EQ(parameters("llama-3.2-3b"), 3'212'749'824);
  EXPECT_EQ(parameters("mistral-7b"), 7'241'732'096);
  EXPECT_EQ(parameters("qwen2.5-0.5b"), 494'032'768);
  EXPECT_EQ(parameters("qwen3-0.6b"), 596'049'920);
  EXPECT_EQ(parameters("gemma-3-1b"), 999'885'952);
  EXPECT_EQ(parameters("phi-3-mini"), 3'821'079'552);
  EXPECT_EQ(parameters("gemma-2b"), 2'506'172'416);
  EXPECT_EQ(parameters("olmo-2-1b"), 1'484'916'736);
  EXPECT_EQ(parameters("smollm3-3b"), 3'075'098'624);
  EXPECT_EQ(parameters("granite-3.3-2b"), 2'533'539'840);
}

TEST(CheckpointGeneratorTest, WritesPublicNamesAndShapes) {
  for (const ModelFamily family :
       {ModelFamily::kBert, ModelFamily::kDistilBert, ModelFamily::kGpt2}) {
    const std::string folder = Folder("names");
    ASSERT_THAT(WriteCheckpoint(folder, Tiny(family), {}), IsOk());
    absl::StatusOr<SafetensorsIndex> index =
        SafetensorsIndex::Open(folder + "/model.safetensors");
    ASSERT_THAT(index, IsOk());
    const auto shape = [&](const char* name) {
      absl::StatusOr<const TensorInfo*> tensor = index->Find(name);
      EXPECT_THAT(tensor, IsOk());
      return (*tensor)->shape;
    };
    const nlohmann::json config =
        nlohmann::json::parse(ReadTestFile(folder + "/config.json"));
    EXPECT_EQ(config["vocab_size"], 50);
    EXPECT_EQ(config["torch_dtype"], "float32");
    if (family == ModelFamily::kBert) {
      EXPECT_THAT(shape("embeddings.token_type_embeddings.weight").extents(),
                  ElementsAre(2, 24));
      EXPECT_THAT(shape("encoder.layer.1.intermediate.dense.weight").extents(),
                  ElementsAre(40, 24));
      EXPECT_THAT(shape("encoder.layer.1.output.dense.weight").extents(),
                  ElementsAre(24, 40));
      EXPECT_EQ(config["model_type"], "bert");
      EXPECT_EQ(config["num_hidden_layers"], 2);
    } else if (family == ModelFamily::kDistilBert) {
      EXPECT_THAT(shape("transformer.layer.1.ffn.lin2.weight").extents(),
                  ElementsAre(24, 40));
      EXPECT_EQ(config["n_heads"], 3);
      EXPECT_EQ(config["pad_token_id"], 0);
    } else {
      EXPECT_THAT(shape("h.1.attn.c_attn.weight").extents(),
                  ElementsAre(24, 72));
      EXPECT_THAT(shape("h.1.mlp.c_proj.weight").extents(),
                  ElementsAre(40, 24));
      EXPECT_EQ(config["n_positions"], 16);
    }
  }
}

std::vector<char> Values(const std::string& folder, const char* name) {
  std::unique_ptr<WeightStore> store =
      *WeightStore::Open(folder + "/model.safetensors", WeightBackend::kPread);
  const Weight weight = *store->Find(name);
  const Tile tile = *weight.Rows(0, weight.rows());
  std::vector<char> values(tile.size_bytes());
  EXPECT_THAT(store->Read(tile, values.data()), IsOk());
  return values;
}

std::vector<char> MakeValues(DType dtype, uint64_t seed, const char* name) {
  const std::string folder = Folder("values");
  CheckpointOptions options;
  options.dtype = dtype;
  options.seed = seed;
  EXPECT_THAT(WriteCheckpoint(folder, Tiny(ModelFamily::kBert), options),
              IsOk());
  return Values(folder, name);
}

constexpr char kWord[] = "embeddings.word_embeddings.weight";

TEST(CheckpointGeneratorTest, ValuesFollowFromTheSeed) {
  const std::vector<char> first = MakeValues(DType::kF32, 7, kWord);
  EXPECT_EQ(MakeValues(DType::kF32, 7, kWord), first);
  EXPECT_NE(MakeValues(DType::kF32, 8, kWord), first);
  std::vector<float> values(first.size() / 4);
  memcpy(values.data(), first.data(), first.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], CheckpointValue(7, kWord, static_cast<int64_t>(i)));
  }
}

TEST(CheckpointGeneratorTest, ValuesAreSpreadAsTheySay) {
  double sum = 0, squares = 0;
  constexpr int kCount = 200'000;
  std::set<float> different;
  for (int i = 0; i < kCount; ++i) {
    const double value = CheckpointValue(1, "h.0.attn.c_attn.weight", i);
    sum += value;
    squares += value * value;
    different.insert(static_cast<float>(value));
  }
  EXPECT_NEAR(sum / kCount, 0, 2e-4);
  EXPECT_NEAR(std::sqrt(squares / kCount), 0.02, 2e-4);
  EXPECT_GT(different.size(), 50'000u);
  for (const char* gain : {"encoder.layer.0.output.LayerNorm.weight",
                           "transformer.layer.0.sa_layer_norm.weight",
                           "encoder.layers.0.norm2.weight", "emb_ln.weight",
                           "h.0.ln_1.weight", "ln_f.weight"}) {
    float least = 2, most = 0;
    for (int i = 0; i < 1000; ++i) {
      const float value = CheckpointValue(1, gain, i);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    EXPECT_GE(least, 0.8f);
    EXPECT_LE(most, 1.2f);
    EXPECT_LT(least, 0.81f);
    EXPECT_GT(most, 1.19f);
  }
  EXPECT_LT(std::fabs(CheckpointValue(1, "ln_f.bias", 0)), 0.2f);
}

TEST(CheckpointGeneratorTest, HalvesAreTheValuesRounded) {
  for (const auto& [dtype, round] :
       {std::make_pair(DType::kBF16, RoundToBfloat16),
        std::make_pair(DType::kF16, RoundToFloat16)}) {
    const std::vector<char> bytes = MakeValues(dtype, 7, kWord);
    ASSERT_FALSE(bytes.empty());
    for (size_t i = 0; i < bytes.size() / 2; ++i) {
      uint16_t half;
      memcpy(&half, &bytes[2 * i], 2);
      ASSERT_EQ(half,
                round(CheckpointValue(7, kWord, static_cast<int64_t>(i))));
    }
  }
}

TEST(CheckpointGeneratorTest, RefusesShapesThatNoModelHas) {
  CheckpointShape shape = Tiny(ModelFamily::kBert);
  shape.heads = 5;
  EXPECT_THAT(
      std::string(CheckpointTensors(shape, DType::kF32).status().message()),
      HasSubstr("24 features do not divide among 5 heads"));
  shape = Tiny(ModelFamily::kBert);
  shape.layers = 0;
  EXPECT_THAT(CheckpointTensors(shape, DType::kF32), Not(IsOk()));
  shape = Tiny(ModelFamily::kBert);
  shape.token_types = 0;
  EXPECT_THAT(CheckpointTensors(shape, DType::kF32), Not(IsOk()));
  shape.token_types = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(CheckpointTensors(shape, DType::kF32), IsOk());
  ++shape.token_types;
  EXPECT_THAT(CheckpointTensors(shape, DType::kF32), Not(IsOk()));
  EXPECT_THAT(CheckpointTensors(Tiny(ModelFamily::kGpt2), DType::kI8),
              Not(IsOk()));
  EXPECT_THAT(std::string(CheckpointShapeFromName("bert").status().message()),
              HasSubstr("there are bert-base, bert-large, "));
  EXPECT_THAT(CheckpointShapeNames(), Contains("gpt2-xl"));
}

}  // namespace
}  // namespace footprint

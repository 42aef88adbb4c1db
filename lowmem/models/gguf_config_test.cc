#include "footprint/lowmem/models/gguf_config.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

absl::StatusOr<DecoderConfig> Read(const std::string& bytes) {
  const std::string path = WriteTestFile("model.gguf", bytes);
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  if (!index.ok()) return index.status();
  const auto store = WeightStore::Open(path, WeightBackend::kPread);
  if (!store.ok()) return store.status();
  return ReadGgufConfig(*index, **store);
}

std::string Whole(const GgufHeader& header, float value = 0) {
  std::string data;
  while (static_cast<int64_t>(data.size()) < header.data_bytes()) {
    data.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return header.Build() + data;
}

// Returns the keys that every file of Llama's kind has.
GgufHeader Begin(const std::string& kind) {
  GgufHeader header;
  header.AddText("general.architecture", kind);
  header.AddInteger(kind + ".block_count", 3);
  header.AddInteger(kind + ".embedding_length", 64);
  header.AddInteger(kind + ".feed_forward_length", 160);
  header.AddInteger(kind + ".attention.head_count", 4);
  header.AddInteger(kind + ".attention.head_count_kv", 2);
  header.AddInteger(kind + ".context_length", 2048);
  header.AddNumber(kind + ".attention.layer_norm_rms_epsilon", 1e-5f);
  return header;
}

TEST(GgufConfigTest, IsThatOfThePublishedConfig) {
  GgufHeader header = Begin("llama");
  header.AddNumber("llama.rope.freq_base", 500000.0f);
  header.AddInteger("llama.rope.dimension_count", 16);
  header.AddTensor("token_embd.weight", DType::kQ8_0, {40, 64});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  // The epsilon is the file's float.
  absl::StatusOr<DecoderConfig> published = ParseDecoderConfig(
      R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 64,
          "intermediate_size": 160, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 2048,
          "rms_norm_eps": 9.999999747378752e-06, "vocab_size": 40,
          "tie_word_embeddings": true, "rope_theta": 500000.0})",
      "config.json");
  ASSERT_THAT(published, IsOk());
  published->rotary.has_neighbours = true;
  EXPECT_TRUE(*config == *published);
}

TEST(GgufConfigTest, SeesInTheTensorsWhatNoKeySays) {
  GgufHeader header = Begin("qwen2");
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  header.AddTensor("output.weight", DType::kF32, {40, 64});
  header.AddTensor("blk.0.attn_q.bias", DType::kF32, {64});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  EXPECT_FALSE(config->ties_output);
  EXPECT_TRUE(config->has_attention_bias);
  EXPECT_FALSE(config->has_output_bias);
  EXPECT_FALSE(config->has_joined_matrices);
  EXPECT_FALSE(config->rotary.has_neighbours);
}

TEST(GgufConfigTest, HasGemmasNormsAsTheyAreStored) {
  GgufHeader header = Begin("gemma3");
  header.AddInteger("gemma3.attention.key_length", 32);
  header.AddInteger("gemma3.attention.value_length", 32);
  header.AddInteger("gemma3.attention.sliding_window", 512);
  header.AddNumber("gemma3.rope.freq_base", 1e6f);
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  EXPECT_FALSE(config->adds_one_to_gains);
  EXPECT_TRUE(config->has_norms_after);
  EXPECT_EQ(config->word_factor, 8);
  EXPECT_TRUE(config->rounds_word_factor);
  EXPECT_EQ(config->head_features(), 32);
  EXPECT_FLOAT_EQ(config->score_scale(), 0.17677669f);
  EXPECT_EQ(config->sliding.window, 512);
  EXPECT_TRUE(config->sliding.slides(4));
  EXPECT_FALSE(config->sliding.slides(5));
  // Sliding layers have higher frequencies.
  EXPECT_GT(config->sliding_rotary.frequencies[5],
            config->rotary.frequencies[5]);
}

TEST(GgufConfigTest, HasTheFactorsOfGranite) {
  GgufHeader header = Begin("granite");
  header.AddNumber("granite.attention.scale", 0.125f);
  header.AddNumber("granite.embedding_scale", 12.0f);
  header.AddNumber("granite.residual_scale", 0.25f);
  header.AddNumber("granite.logit_scale", 8.0f);
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->score_scale(), 0.125f);
  EXPECT_EQ(config->word_factor, 48);
  EXPECT_FALSE(config->rounds_word_factor);
  EXPECT_EQ(config->logit_divisor, 8);
  EXPECT_EQ(config->epsilon, 1e-5f * 16);
  EXPECT_TRUE(config->rotary.has_neighbours);
  // If the key is missing, scores have the usual factor, as in llama.cpp.
  GgufHeader plain = Begin("granite");
  plain.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  EXPECT_EQ(Read(Whole(plain))->score_scale(), 0.25f);
}

TEST(GgufConfigTest, DividesAnglesByTheFactorsOfTheFile) {
  GgufHeader plain = Begin("llama");
  plain.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  GgufHeader scaled = plain;
  scaled.AddTensor("rope_freqs.weight", DType::kF32, {8});
  const absl::StatusOr<DecoderConfig> before = Read(Whole(plain));
  const absl::StatusOr<DecoderConfig> after = Read(Whole(scaled, 4.0f));
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  ASSERT_EQ(after->rotary.pairs(), 8);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(after->rotary.frequencies[i], before->rotary.frequencies[i] / 4);
  }
}

TEST(GgufConfigTest, SeesABiasOfAnyLayer) {
  GgufHeader header = Begin("qwen2");
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  header.AddTensor("blk.1.attn_k.bias", DType::kF32, {32});
  header.AddTensor("blk.2.ffn_up.bias", DType::kF32, {160});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->has_attention_bias);
  EXPECT_TRUE(config->has_feed_bias);
  EXPECT_FALSE(config->has_output_bias);
}

// llama.cpp does the same; old files have "rope.scale_linear".
TEST(GgufConfigTest, TakesAFactorWithoutATypeAsLinear) {
  GgufHeader plain = Begin("llama");
  plain.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  const absl::StatusOr<DecoderConfig> before = Read(Whole(plain));
  ASSERT_THAT(before, IsOk());
  for (const char* key :
       {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    for (const float factor : {4.0f, 0.0f}) {
      GgufHeader header = plain;
      header.AddNumber(key, factor);
      const absl::StatusOr<DecoderConfig> after = Read(Whole(header));
      ASSERT_THAT(after, IsOk());
      EXPECT_EQ(after->rotary.frequencies[3],
                before->rotary.frequencies[3] / (factor == 0 ? 1 : factor))
          << key;
    }
  }
}

TEST(GgufConfigTest, ReadsAllOfYarn) {
  GgufHeader header = Begin("qwen2");
  header.AddText("qwen2.rope.scaling.type", "yarn");
  header.AddNumber("qwen2.rope.scaling.factor", 4.0f);
  header.AddInteger("qwen2.rope.scaling.original_context_length", 512);
  header.AddNumber("qwen2.rope.scaling.yarn_attn_factor", 1.5f);
  header.AddNumber("qwen2.rope.scaling.yarn_beta_fast", 16.0f);
  header.AddNumber("qwen2.rope.scaling.yarn_beta_slow", 2.0f);
  header.AddFlag("qwen2.rope.scaling.yarn_truncate", false);
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
  ASSERT_THAT(config, IsOk());
  const absl::StatusOr<DecoderConfig> published = ParseDecoderConfig(
      R"({"model_type": "qwen2", "num_hidden_layers": 3, "hidden_size": 64,
          "intermediate_size": 160, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 2048,
          "rms_norm_eps": 1e-5, "vocab_size": 40,
          "rope_scaling": {"rope_type": "yarn", "factor": 4,
            "original_max_position_embeddings": 512, "attention_factor": 1.5,
            "beta_fast": 16, "beta_slow": 2, "truncate": false}})",
      "config.json");
  ASSERT_THAT(published, IsOk());
  EXPECT_EQ(config->rotary.scale, 1.5f);
  EXPECT_EQ(config->rotary.frequencies, published->rotary.frequencies);
}

// In double precision, 30 / 88 * 88 is slightly below 30.
TEST(GgufConfigTest, TurnsAsManyFeaturesAsTheFileSays) {
  for (int turned = 2; turned <= 88; turned += 2) {
    GgufHeader header = Begin("llama");
    header.AddInteger("llama.attention.key_length", 88);
    header.AddInteger("llama.rope.dimension_count", turned);
    header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
    const absl::StatusOr<DecoderConfig> config = Read(Whole(header));
    ASSERT_THAT(config, IsOk()) << turned;
    EXPECT_EQ(config->rotary.pairs(), turned / 2);
  }
}

TEST(GgufConfigTest, EndsPositionsWhereTheShortFactorsDo) {
  GgufHeader header = Begin("phi3");
  header.AddText("phi3.rope.scaling.type", "longrope");
  header.AddInteger("phi3.rope.scaling.original_context_length", 1024);
  header.AddNumber("phi3.rope.scaling.attn_factor", 1.25f);
  header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
  header.AddTensor("output.weight", DType::kF32, {40, 64});
  header.AddTensor("blk.0.attn_qkv.weight", DType::kF32, {128, 64});
  header.AddTensor("rope_factors_short.weight", DType::kF32, {8});
  const absl::StatusOr<DecoderConfig> config = Read(Whole(header, 2.0f));
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->positions, 1024);
  EXPECT_EQ(config->rotary.scale, 1.25f);
  EXPECT_EQ(config->rotary.frequencies[0], 0.5f);
  EXPECT_TRUE(config->has_joined_matrices);
}

TEST(GgufConfigTest, RefusesWhatItDoesNotCalculate) {
  struct Case {
    const char* text;
    absl::StatusCode code;
    std::string kind;
    std::function<void(GgufHeader*)> change;
  };
  constexpr auto kUnknown = absl::StatusCode::kUnimplemented;
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const std::vector<Case> cases = {
      {"architecture \"mamba\"", kUnknown, "mamba", [](GgufHeader*) {}},
      {"mixtures of experts", kUnknown, "llama",
       [](GgufHeader* header) { header->AddInteger("llama.expert_count", 8); }},
      {"in 3 files", kUnknown, "llama",
       [](GgufHeader* header) { header->AddInteger("split.count", 3); }},
      {"\"dynamic\" is not supported", kUnknown, "qwen2",
       [](GgufHeader* header) {
         header->AddText("qwen2.rope.scaling.type", "dynamic");
       }},
      {"heads of different lengths", kUnknown, "llama",
       [](GgufHeader* header) {
         header->AddInteger("llama.attention.value_length", 8);
       }},
      {"no tensor \"rope_factors_short.weight\"", absl::StatusCode::kNotFound,
       "phi3",
       [](GgufHeader* header) {
         header->AddText("phi3.rope.scaling.type", "longrope");
       }},
      {"has 2 words, but token_embd.weight 40 rows", kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddTexts("tokenizer.ggml.tokens", {"a", "b"});
       }},
      {"\"llama.attention.scale\" is 0.5", kUnknown, "llama",
       [](GgufHeader* header) {
         header->AddNumber("llama.attention.scale", 0.5f);
       }},
      {"\"gemma3.final_logit_softcapping\" is 30", kUnknown, "gemma3",
       [](GgufHeader* header) {
         header->AddNumber("gemma3.final_logit_softcapping", 30.0f);
       }},
      {"\"olmo2.attention.sliding_window\" is set", kUnknown, "olmo2",
       [](GgufHeader* header) {
         header->AddInteger("olmo2.attention.sliding_window", 512);
       }},
      {"residual_multiplier is -0.5; it must be above zero", kInvalid,
       "granite",
       [](GgufHeader* header) {
         header->AddNumber("granite.residual_scale", -0.5f);
       }},
      {"\"granite.logit_scale\" is nan", kInvalid, "granite",
       [](GgufHeader* header) {
         header->AddNumber("granite.logit_scale", std::nanf(""));
       }},
      {"\"qwen2.attention.causal\" is false", kUnknown, "qwen2",
       [](GgufHeader* header) {
         header->AddFlag("qwen2.attention.causal", false);
       }},
      {"\"llama.rope.freq_base\" is nan", kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddNumber("llama.rope.freq_base", std::nanf(""));
       }},
      {"rope_theta is not above 1 (the file's key \"llama.rope.freq_base\")",
       kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddNumber("llama.rope.freq_base", -1.0f);
       }},
      {"(the file's key \"qwen2.attention.sliding_window\")", kInvalid, "qwen2",
       [](GgufHeader* header) {
         header->AddInteger("qwen2.attention.sliding_window", 0x80000000);
       }},
      {"\"llama.rope.freq_base\" is a value of type string", kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddText("llama.rope.freq_base", "10000");
       }},
      {"has 3 numbers, not the 8 of a head", kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddTensor("rope_freqs.weight", DType::kF32, {3});
       }},
      {"not above zero", kInvalid, "llama",
       [](GgufHeader* header) {
         header->AddTensor("rope_freqs.weight", DType::kF32, {8});
       }},
  };
  for (const Case& wrong : cases) {
    GgufHeader header = Begin(wrong.kind);
    header.AddTensor("token_embd.weight", DType::kF32, {40, 64});
    wrong.change(&header);
    const absl::Status status = Read(Whole(header)).status();
    EXPECT_THAT(status, StatusIs(wrong.code)) << wrong.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("model.gguf"));
  }
}

TEST(GgufConfigTest, NamesAMissingKey) {
  GgufHeader header;
  header.AddText("general.architecture", "llama");
  const absl::Status status = Read(Whole(header)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"llama."));
}

}  // namespace
}  // namespace footprint

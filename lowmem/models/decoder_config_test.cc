#include "footprint/lowmem/models/decoder_config.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The config of the public gpt2-large.
constexpr char kGpt2[] = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
  "attn_pdrop": 0.1, "bos_token_id": 50256, "eos_token_id": 50256,
  "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024,
  "n_embd": 1280, "n_head": 20, "n_layer": 36, "n_positions": 1024,
  "vocab_size": 50257
})";

TEST(ParseDecoderConfigTest, ReadsPublicConfigs) {
  const auto config = ParseDecoderConfig(kGpt2, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->layers, 36);
  EXPECT_EQ(config->hidden, 1280);
  EXPECT_EQ(config->heads, 20);
  EXPECT_EQ(config->head_features(), 64);
  EXPECT_EQ(config->intermediate, 5120);
  EXPECT_EQ(config->vocabulary, 50257);
  EXPECT_EQ(config->positions, 1024);
  EXPECT_EQ(config->epsilon, 1e-5f);
  EXPECT_EQ(config->activation, Activation::kGeluTanh);
}

absl::StatusOr<DecoderConfig> Changed(const std::string& from,
                                      const std::string& to) {
  return ParseDecoderConfig(absl::StrReplaceAll(kGpt2, {{from, to}}),
                            "config.json");
}

TEST(ParseDecoderConfigTest, TakesTheInnerSizeThatIsGiven) {
  const std::string key = "\"vocab_size\"";
  EXPECT_EQ(Changed(key, "\"n_inner\": 77, " + key)->intermediate, 77);
  EXPECT_EQ(Changed(key, "\"n_inner\": null, " + key)->intermediate, 5120);
}

TEST(ParseDecoderConfigTest, SaysWhichKeyIsWrong) {
  const auto fault = [](const std::string& from, const std::string& to) {
    return std::string(Changed(from, to).status().message());
  };
  EXPECT_EQ(fault("n_embd", "embd"), "config.json: n_embd is missing");
  EXPECT_EQ(fault(": 20", ": 21"),
            "config.json: hidden size 1280 is not a multiple of the 21 heads");
  for (const char* bad : {"-4", "0", "1.5", "\"36\"", "null", "2000000000"}) {
    EXPECT_TRUE(absl::StrContains(fault(": 36", absl::StrCat(": ", bad)),
                                  "n_layer is not a whole number"));
  }
  EXPECT_TRUE(absl::StrContains(fault("1e-05", "0"), "layer_norm_epsilon"));
  EXPECT_TRUE(absl::StrContains(fault("\"gpt2\"", "\"gptj\""), "gptj"));
  EXPECT_TRUE(absl::StrContains(fault("gelu_new", "mish"), "mish"));
  const std::string key = "\"vocab_size\"";
  EXPECT_EQ(fault(key, "\"scale_attn_weights\": 1, " + key),
            "config.json: scale_attn_weights is not true or false");
  for (const char* flag : {"\"scale_attn_weights\": false, ",
                           "\"scale_attn_by_inverse_layer_idx\": true, "}) {
    EXPECT_THAT(Changed(key, flag + key),
                StatusIs(absl::StatusCode::kUnimplemented))
        << flag;
  }
}

TEST(ParseDecoderConfigTest, FindsTheFamilyByTheArchitectures) {
  EXPECT_THAT(Changed("\"model_type\": \"gpt2\", ", ""), IsOk());
  const auto without_both = ParseDecoderConfig(
      absl::StrReplaceAll(kGpt2, {{"model_type", "x"}, {"architectures", "y"}}),
      "config.json");
  EXPECT_TRUE(absl::StrContains(without_both.status().message(),
                                "config.json: model_type is missing"))
      << without_both.status();
  EXPECT_THAT(Changed("gpt2", "bert"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(absl::StrContains(
      ParseDecoderConfig(R"({"model_type": "bert"})", "c").status().message(),
      "known are the decoders \"gpt2\""));
}

TEST(ParseDecoderConfigTest, SaysWhetherTheOutputIsTheTableOfWords) {
  const std::string key = "\"vocab_size\"";
  EXPECT_TRUE(Changed(key, key)->ties_output);
  EXPECT_TRUE(
      Changed(key, "\"tie_word_embeddings\": true, " + key)->ties_output);
  EXPECT_FALSE(
      Changed(key, "\"tie_word_embeddings\": false, " + key)->ties_output);
}

// The form of the public configs, from transformers 4.
constexpr char kLlama[] = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false,
  "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
  "intermediate_size": 8192, "max_position_embeddings": 131072,
  "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32,
  "num_hidden_layers": 16, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
    "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
    "rope_type": "llama3"},
  "rope_theta": 500000.0, "tie_word_embeddings": true, "vocab_size": 128256
})";

constexpr char kGemma[] = R"({
  "model_type": "gemma3_text", "head_dim": 256,
  "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 1152,
  "intermediate_size": 6912, "max_position_embeddings": 32768,
  "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1,
  "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
  "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000,
  "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144
})";

absl::StatusOr<DecoderConfig> With(const std::string& json,
                                   const std::string& keys) {
  return ParseDecoderConfig(absl::StrCat("{", keys, ",", json.substr(1)),
                            "config.json");
}

TEST(ParseDecoderConfigTest, ReadsLlamasConfig) {
  const auto config = ParseDecoderConfig(kLlama, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->family, ModelFamily::kLlama);
  EXPECT_EQ(config->key_value_heads(), 8);
  EXPECT_EQ(config->group(), 4);
  EXPECT_EQ(config->query_features(), 2048);
  EXPECT_EQ(config->key_value_features(), 512);
  EXPECT_EQ(config->activation, Activation::kSilu);
  EXPECT_EQ(config->score_scale(), 0.125f);
  EXPECT_EQ(config->rotary.pairs(), 32);
  EXPECT_EQ(config->rotary.frequencies[0], 1.0f);
  // The lowest frequency is divided by the factor.
  EXPECT_NEAR(config->rotary.frequencies[31] * 32 / std::pow(5e5, -62.0 / 64),
              1, 1e-6);
  EXPECT_FALSE(config->sliding.slides(0));
  EXPECT_TRUE(config->ties_output);
  EXPECT_FALSE(config->has_position_table());
}

// "rope_parameters" holds what "rope_theta" and "rope_scaling" held.
TEST(ParseDecoderConfigTest, ReadsConfigsOfTransformers4And5Alike) {
  const std::string old = kLlama;
  const std::string now = absl::StrReplaceAll(
      old, {{"\"rope_scaling\": {",
             "\"rope_parameters\": {\"rope_theta\": 500000.0, "},
            {"\"rope_theta\": 500000.0, \"tie", "\"tie"}});
  ASSERT_NE(now, old);
  EXPECT_TRUE(*ParseDecoderConfig(now, "c") == *ParseDecoderConfig(old, "c"));
  const std::string gemma = kGemma;
  const std::string gemma_now = absl::StrReplaceAll(
      gemma,
      {{"\"rope_local_base_freq\": 10000, \"rope_scaling\": null, "
        "\"rope_theta\": 1000000",
        "\"rope_parameters\": {\"full_attention\": {\"rope_theta\": 1000000, "
        "\"rope_type\": \"default\"}, \"sliding_attention\": {\"rope_theta\": "
        "10000, \"rope_type\": \"default\"}}"}});
  ASSERT_NE(gemma_now, gemma);
  EXPECT_TRUE(*ParseDecoderConfig(gemma_now, "c") ==
              *ParseDecoderConfig(gemma, "c"));
}

TEST(ParseDecoderConfigTest, ReadsGemmasLayers) {
  const auto config = ParseDecoderConfig(kGemma, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->ties_output);
  EXPECT_EQ(config->score_scale(), 1.0f / 16);
  EXPECT_EQ(config->sliding.window, 512);
  for (const int64_t layer : {0, 4, 6, 25}) {
    EXPECT_TRUE(config->sliding.slides(layer)) << layer;
  }
  EXPECT_FALSE(config->sliding.slides(5));
  EXPECT_FALSE(config->sliding.slides(23));
  EXPECT_NE(config->rotary.frequencies[1],
            config->sliding_rotary.frequencies[1]);
}

// The config of the public gemma-2b, without its activation.
constexpr char kFirstGemma[] = R"({
  "architectures": ["GemmaForCausalLM"], "attention_bias": false,
  "head_dim": 256, "hidden_size": 2048, "intermediate_size": 16384,
  "max_position_embeddings": 8192, "model_type": "gemma",
  "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1,
  "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 10000.0,
  "vocab_size": 256000
})";

TEST(ParseDecoderConfigTest, ReadsTheFirstGemma) {
  const auto config = ParseDecoderConfig(kFirstGemma, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->ties_output);
  EXPECT_TRUE(config->adds_one_to_gains);
  EXPECT_EQ(config->word_factor, std::sqrt(2048.0f));
  EXPECT_TRUE(config->rounds_word_factor);
  EXPECT_FALSE(config->has_norms_after);
  EXPECT_FALSE(config->has_head_norms);
  EXPECT_EQ(config->score_scale(), 1.0f / 16);
  EXPECT_EQ(config->activation, Activation::kGeluTanh);
  EXPECT_EQ(With(kFirstGemma, R"("hidden_act": "gelu")")->activation,
            Activation::kGelu);
  EXPECT_EQ(With(kFirstGemma, R"("hidden_act": "gelu",
                                 "hidden_activation": "gelu_pytorch_tanh")")
                ->activation,
            Activation::kGeluTanh);
  EXPECT_THAT(With(kFirstGemma, R"("hidden_act": "mish")").status().message(),
              HasSubstr("hidden_act is \"mish\"; known are"));
  EXPECT_THAT(With(kFirstGemma, R"("use_bidirectional_attention": true)"),
              StatusIs(absl::StatusCode::kUnimplemented));
}

// The config of the public OLMo-2-0425-1B.
constexpr char kOlmo2[] = R"({
  "architectures": ["Olmo2ForCausalLM"], "attention_bias": false,
  "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 8192,
  "max_position_embeddings": 4096, "model_type": "olmo2",
  "num_attention_heads": 16, "num_hidden_layers": 16,
  "num_key_value_heads": 16, "rms_norm_eps": 1e-06, "rope_scaling": null,
  "rope_theta": 500000, "tie_word_embeddings": false, "vocab_size": 100352
})";

TEST(ParseDecoderConfigTest, ReadsTheNormsOfOlmo2) {
  const auto config = ParseDecoderConfig(kOlmo2, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_FALSE(config->has_norms_before);
  EXPECT_TRUE(config->has_norms_after);
  EXPECT_TRUE(config->has_head_norms);
  EXPECT_TRUE(config->joins_head_norms);
  EXPECT_EQ(config->query_gains(), 2048);
  EXPECT_EQ(config->key_gains(), 2048);
  EXPECT_FALSE(config->has_attention_bias);
  EXPECT_FALSE(config->ties_output);
  EXPECT_EQ(With(kOlmo2, R"("sliding_window": 512)")->sliding.window, 0);
  const auto other = ParseDecoderConfig(
      absl::StrReplaceAll(kOlmo2, {{"rms_norm_eps", "other"}}), "c");
  EXPECT_EQ(other->epsilon, 1e-5f);
}

// The config of a small SmolLM3.
constexpr char kSmolLm3[] = R"({
  "architectures": ["SmolLM3ForCausalLM"], "hidden_act": "silu",
  "hidden_size": 64, "intermediate_size": 160,
  "max_position_embeddings": 65536, "model_type": "smollm3",
  "num_attention_heads": 4, "num_hidden_layers": 8, "num_key_value_heads": 2,
  "rms_norm_eps": 1e-06, "vocab_size": 100
})";

// Returns a character for each layer: r if it rotates, s if it slides, b for
// both, and - for neither.
std::string Layers(const absl::StatusOr<DecoderConfig>& config) {
  if (!config.ok()) return std::string(config.status().message());
  std::string layers;
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    const bool slides = config->sliding.slides(layer);
    layers += config->rotating.rotates(layer) ? (slides ? 'b' : 'r')
                                              : (slides ? 's' : '-');
  }
  return layers;
}

TEST(ParseDecoderConfigTest, FindsWhichLayersOfSmolLm3Rotate) {
  const auto config = ParseDecoderConfig(kSmolLm3, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->ties_output);
  EXPECT_NEAR(config->rotary.frequencies[7] * std::pow(2e6, 14.0 / 16), 1,
              1e-6);
  EXPECT_EQ(Layers(config), "rrr-rrr-");
  EXPECT_EQ(Layers(With(kSmolLm3, R"("no_rope_layer_interval": 3)")),
            "rr-rr-rr");
  // Numbers beyond the last layer count nothing.
  EXPECT_EQ(Layers(With(kSmolLm3, R"("no_rope_layers":
                                     [1, 0, 1, 1, 0, 0, 1, 1, 0])")),
            "r-rr--rr");
  const std::string switched =
      R"("use_sliding_window": true, "sliding_window": 16)";
  EXPECT_EQ(Layers(With(kSmolLm3, switched)), "rrrsrrrs");
  EXPECT_EQ(Layers(With(kSmolLm3, switched + R"(, "no_rope_layers":
                                     [1, 0, 1, 1, 0, 0, 1, 1])")),
            "rsrrssrr");
  EXPECT_EQ(Layers(With(
                absl::StrReplaceAll(kSmolLm3, {{"layers\": 8", "layers\": 2"}}),
                switched + R"(, "no_rope_layers": [0, 1], "layer_types":
                      ["full_attention", "sliding_attention"])")),
            "-b");
}

TEST(ParseDecoderConfigTest, RefusesLayersThatContradict) {
  EXPECT_EQ(
      Layers(With(kSmolLm3, R"("no_rope_layers": [1, 0, 1])")),
      "config.json: no_rope_layers has 3 numbers, but there are 8 layers: "
      "give each a 1 if it rotates, and else a 0");
  EXPECT_THAT(Layers(With(kSmolLm3, R"("no_rope_layers": [])")),
              HasSubstr("has 0 numbers"));
  EXPECT_THAT(Layers(With(kSmolLm3, R"("no_rope_layers":
                                       [1, 0, 1, 1, 0, 0, 1, 2])")),
              HasSubstr("has 2 for layer 7; known are 0 and 1"));
  EXPECT_THAT(Layers(With(kSmolLm3, R"("no_rope_layers": 4)")),
              HasSubstr("no_rope_layers is not a list of numbers"));
  EXPECT_THAT(Layers(With(kSmolLm3, R"("no_rope_layer_interval": 0)")),
              HasSubstr("no_rope_layer_interval is not a whole number"));
  EXPECT_THAT(Layers(With(kSmolLm3, R"("layer_types": ["sliding_attention"])")),
              HasSubstr("but use_sliding_window is not true"));
}

// The config of the public granite-3.3-2b-instruct.
constexpr char kGranite[] = R"({
  "architectures": ["GraniteForCausalLM"], "attention_bias": false,
  "attention_multiplier": 0.015625, "embedding_multiplier": 12.0,
  "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 8192,
  "logits_scaling": 8.0, "max_position_embeddings": 131072, "mlp_bias": false,
  "model_type": "granite", "num_attention_heads": 32, "num_hidden_layers": 40,
  "num_key_value_heads": 8, "residual_multiplier": 0.22,
  "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 10000000.0,
  "tie_word_embeddings": true, "vocab_size": 49159
})";

TEST(ParseDecoderConfigTest, ReadsTheFactorsOfGranite) {
  const auto config = ParseDecoderConfig(kGranite, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->score_scale(), 0.015625f);
  EXPECT_EQ(config->logit_divisor, 8);
  EXPECT_FLOAT_EQ(config->word_factor, 12 / 0.22f);
  EXPECT_FALSE(config->rounds_word_factor);
  EXPECT_FLOAT_EQ(config->epsilon, 1e-5f / (0.22f * 0.22f));
  // All factors are 1 unless the config names them.
  const auto plain = ParseDecoderConfig(
      absl::StrReplaceAll(kGranite, {{"_multiplier\"", "_other\""},
                                     {"logits_scaling", "other"}}),
      "c");
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(plain->score_scale(), 1);
  EXPECT_EQ(plain->word_factor, 1);
  EXPECT_EQ(plain->epsilon, 1e-5f);
  EXPECT_EQ(plain->logit_divisor, 1);
}

TEST(ParseDecoderConfigTest, RefusesFactorsThatAreNotAboveZero) {
  for (const char* key : {"attention_multiplier", "embedding_multiplier",
                          "residual_multiplier", "logits_scaling"}) {
    const std::string config =
        absl::StrReplaceAll(kGranite, {{absl::StrCat("\"", key), "\"other"}});
    const auto fault = [&](const char* value) {
      return std::string(With(config, absl::StrCat("\"", key, "\": ", value))
                             .status()
                             .message());
    };
    for (const char* value : {"0", "-2", "1e-60"}) {
      EXPECT_EQ(fault(value),
                absl::StrCat("config.json: ", key, " is ", value,
                             "; it must be above zero and within a float's "
                             "range"));
    }
    EXPECT_EQ(fault("\"8\""),
              absl::StrCat("config.json: ", key, " is not a number"));
    EXPECT_THAT(fault("NaN"), HasSubstr("is not a JSON object"));
  }
  EXPECT_THAT(ParseDecoderConfig(
                  absl::StrReplaceAll(kGranite, {{"0.22", "1e-30"}}), "c")
                  .status()
                  .message(),
              HasSubstr("leaves the range of a float"));
}

TEST(ParseDecoderConfigTest, FindsTheFeaturesOfAHead) {
  const std::string llama =
      absl::StrReplaceAll(kLlama, {{"\"head_dim\": 64,", ""}});
  EXPECT_EQ(ParseDecoderConfig(llama, "c")->head_features(), 64);
  EXPECT_THAT(ParseDecoderConfig(
                  absl::StrReplaceAll(llama, {{"\"hidden_size\": 2048",
                                               "\"hidden_size\": 2050"}}),
                  "c")
                  .status()
                  .message(),
              HasSubstr("2050 is not a multiple of the 32 heads"));
  const std::string qwen = absl::StrReplaceAll(
      llama, {{"\"llama\"", "\"qwen3\""}, {"Llama", "Qwen3"}});
  EXPECT_EQ(ParseDecoderConfig(qwen, "c")->head_features(), 128);
  // A head's features need not be hidden / heads.
  EXPECT_THAT(
      ParseDecoderConfig(absl::StrReplaceAll(qwen, {{"\"hidden_size\": 2048",
                                                     "\"hidden_size\": 2050"}}),
                         "c"),
      IsOk());
}

TEST(ParseDecoderConfigTest, FindsWhichLayersSlide) {
  const std::string mistral = absl::StrReplaceAll(
      kLlama, {{"\"llama\"", "\"mistral\""}, {"Llama", "Mistral"}});
  EXPECT_EQ(ParseDecoderConfig(mistral, "c")->sliding.window, 4096);
  EXPECT_EQ(With(mistral, R"("sliding_window": null)")->sliding.window, 0);
  EXPECT_TRUE(With(mistral, R"("sliding_window": 8)")->sliding.slides(3));
  const std::string qwen = absl::StrReplaceAll(
      kLlama, {{"\"llama\"", "\"qwen2\""}, {"Llama", "Qwen2"}});
  EXPECT_EQ(With(qwen, R"("sliding_window": 8)")->sliding.window, 0);
  const auto late =
      With(qwen, R"("use_sliding_window": true, "sliding_window": 8,
               "max_window_layers": 3)");
  EXPECT_FALSE(late->sliding.slides(2));
  EXPECT_TRUE(late->sliding.slides(3));
  EXPECT_THAT(With(mistral, R"("sliding_window": 8,
                               "layer_types": ["full_attention"])")
                  .status()
                  .message(),
              HasSubstr("layer_types names 1 layers, but there are 16"));
}

TEST(ParseDecoderConfigTest, RefusesWhatItWouldComputeWrongly) {
  const auto fault = [](const std::string& json, const std::string& keys) {
    return std::string(With(json, keys).status().message());
  };
  EXPECT_THAT(fault(kGemma, R"("attn_logit_softcapping": 50.0)"),
              HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(fault(kLlama, R"("use_bidirectional_attention": true)"),
              HasSubstr("use_bidirectional_attention"));
  EXPECT_THAT(fault(kLlama, R"("is_causal": false)"),
              HasSubstr("is_causal is \"false\"; known are \"true\""));
  EXPECT_THAT(With(kLlama, R"("is_causal": true)"), IsOk());
  EXPECT_THAT(std::string(ParseDecoderConfig(
                              absl::StrReplaceAll(
                                  kLlama, {{"\"llama3\"", "\"dynamic\""}}),
                              "config.json")
                              .status()
                              .message()),
              HasSubstr("rope_scaling: rope_type is \"dynamic\"; known are"));
  const auto changed = [&](const char* from, const char* to) {
    return std::string(
        ParseDecoderConfig(absl::StrReplaceAll(kLlama, {{from, to}}), "c")
            .status()
            .message());
  };
  EXPECT_THAT(
      changed("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"),
      HasSubstr("32 is not a multiple of the 5 heads of keys"));
  EXPECT_THAT(changed("\"head_dim\": 64", "\"head_dim\": 63"),
              HasSubstr("63 features to rotate"));
  EXPECT_THAT(changed("\"head_dim\": 64", "\"head_dim\": 1000000000"),
              HasSubstr("is no head's"));
  EXPECT_THAT(changed("\"factor\": 32.0", "\"factor\": -1"),
              HasSubstr("factor is not a number above zero"));
  EXPECT_THAT(changed("\"silu\"", "\"mish\""), HasSubstr("mish"));
}

// The config of the public ModernBERT-base, from transformers 4.
constexpr char kModernBert[] = R"({
  "architectures": ["ModernBertForMaskedLM"], "attention_bias": false,
  "global_attn_every_n_layers": 3, "global_rope_theta": 160000.0,
  "hidden_activation": "gelu", "hidden_size": 768, "intermediate_size": 1152,
  "layer_norm_eps": 1e-05, "local_attention": 128, "local_rope_theta": 10000.0,
  "max_position_embeddings": 8192, "mlp_bias": false,
  "model_type": "modernbert", "norm_bias": false, "norm_eps": 1e-05,
  "num_attention_heads": 12, "num_hidden_layers": 22, "pad_token_id": 50283,
  "position_embedding_type": "absolute", "vocab_size": 50368
})";

TEST(ParseDecoderConfigTest, ReadsModernBertsLayers) {
  const auto config = ParseDecoderConfig(kModernBert, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->family, ModelFamily::kModernBert);
  EXPECT_TRUE(config->is_bidirectional);
  EXPECT_TRUE(config->has_joined_gate());
  EXPECT_FALSE(config->has_norm_bias);
  EXPECT_EQ(config->replacing_norms, ReplacingNorms::kFirst);
  EXPECT_EQ(config->cached_layers(), 1);
  // 64 tokens before, 64 after, and the token itself.
  EXPECT_EQ(config->sliding.window, 65);
  for (const int64_t layer : {0, 3, 21}) {
    EXPECT_FALSE(config->sliding.slides(layer)) << layer;
  }
  for (const int64_t layer : {1, 2, 20}) {
    EXPECT_TRUE(config->sliding.slides(layer)) << layer;
  }
  EXPECT_NEAR(config->rotary.frequencies[31] * std::pow(1.6e5, 62.0 / 64), 1,
              1e-6);
  EXPECT_NEAR(config->sliding_rotary.frequencies[31] * std::pow(1e4, 62.0 / 64),
              1, 1e-6);
  // A null base means that of the full layers.
  EXPECT_TRUE(
      With(absl::StrReplaceAll(kModernBert, {{"local_rope_theta", "other"}}),
           R"("local_rope_theta": null)")
          ->sliding_rotary == config->rotary);
  std::string types;
  for (int layer = 0; layer < 22; ++layer) {
    absl::StrAppend(
        &types, layer > 0 ? ", " : "",
        layer % 3 > 0 ? "\"sliding_attention\"" : "\"full_attention\"");
  }
  const auto now = ParseDecoderConfig(
      absl::StrReplaceAll(
          kModernBert,
          {{"\"global_attn_every_n_layers\": 3, \"global_rope_theta\": "
            "160000.0,",
            absl::StrCat("\"layer_types\": [", types,
                         "], \"rope_parameters\": {\"full_attention\": "
                         "{\"rope_theta\": 160000.0, \"rope_type\": "
                         "\"default\"}, \"sliding_attention\": "
                         "{\"rope_theta\": 10000.0}},")},
           {", \"local_rope_theta\": 10000.0", ""}}),
      "config.json");
  ASSERT_THAT(now, IsOk());
  for (int64_t layer = 0; layer < 22; ++layer) {
    EXPECT_EQ(now->sliding.slides(layer), config->sliding.slides(layer));
  }
  EXPECT_TRUE(now->rotary == config->rotary);
  EXPECT_TRUE(now->sliding_rotary == config->sliding_rotary);
}

TEST(ParseDecoderConfigTest, RefusesAModernBertWithScaledRotations) {
  EXPECT_THAT(With(kModernBert, R"("rope_scaling": null)"), IsOk());
  EXPECT_THAT(
      With(kModernBert, R"("rope_scaling": {"type": "linear", "factor": 2})"),
      StatusIs(absl::StatusCode::kUnimplemented));
}

// The config of the public nomic-embed-text-v1.5.
constexpr char kNomicBert[] = R"({
  "activation_function": "swiglu", "architectures": ["NomicBertModel"],
  "causal": false, "layer_norm_epsilon": 1e-12, "max_trained_positions": 2048,
  "mlp_fc1_bias": false, "mlp_fc2_bias": false, "model_type": "nomic_bert",
  "n_embd": 768, "n_head": 12, "n_inner": 3072, "n_layer": 12,
  "n_positions": 8192, "parallel_block": false, "prenorm": false,
  "qkv_proj_bias": false, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0,
  "rotary_emb_interleaved": false, "rotary_emb_scale_base": null,
  "rotary_scaling_factor": null, "type_vocab_size": 2, "use_rms_norm": false,
  "vocab_size": 30528
})";

TEST(ParseDecoderConfigTest, ReadsNomicBertsOwnKeysAndThoseOfTransformers) {
  const auto config = ParseDecoderConfig(kNomicBert, "config.json");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->activation, Activation::kSilu);
  EXPECT_EQ(config->replacing_norms, ReplacingNorms::kAll);
  EXPECT_EQ(config->token_types, 2);
  EXPECT_EQ(config->positions, 8192);
  EXPECT_FALSE(config->has_attention_bias);
  EXPECT_FALSE(config->has_feed_bias);
  EXPECT_FALSE(config->has_joined_gate());
  EXPECT_EQ(config->sliding.window, 0);
  EXPECT_NEAR(config->rotary.frequencies[31] * std::pow(1e3, 62.0 / 64), 1,
              1e-6);
  // The code's own classes have biases unless the config says otherwise.
  EXPECT_TRUE(
      ParseDecoderConfig(
          absl::StrReplaceAll(kNomicBert, {{"qkv_proj_bias", "other"}}), "c")
          ->has_output_bias);
  // With a factor for longer texts, only the positions before them are exact.
  const auto scaled = ParseDecoderConfig(
      absl::StrReplaceAll(kNomicBert, {{"\"rotary_scaling_factor\": null",
                                        "\"rotary_scaling_factor\": 2"}}),
      "c");
  ASSERT_THAT(scaled, IsOk());
  EXPECT_EQ(scaled->positions, 2048);
  // These values mean no experts, and the trained positions are known.
  const auto later = ParseDecoderConfig(
      absl::StrReplaceAll(
          kNomicBert,
          {{"\"rotary_scaling_factor\": null",
            R"("rotary_scaling_factor": 2, "num_experts": 0)"},
           {"\"max_trained_positions\": 2048", "\"moe_every_n_layers\": -1"}}),
      "c");
  ASSERT_THAT(later, IsOk());
  EXPECT_TRUE(*later == *scaled);
  const auto now = ParseDecoderConfig(R"({
      "architectures": ["NomicBertModel"], "head_dim": 64, "hidden_act": "silu",
      "hidden_size": 768, "intermediate_size": 3072, "layer_norm_eps": 1e-12,
      "max_position_embeddings": 8192, "model_type": "nomic_bert",
      "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
      "rope_parameters": {"rope_theta": 1000.0, "rope_type": "default"},
      "type_vocab_size": 2, "vocab_size": 30528})",
                                      "config.json");
  ASSERT_THAT(now, IsOk());
  EXPECT_TRUE(*now == *config);
}

TEST(ParseDecoderConfigTest, RefusesOtherNomicBerts) {
  const auto refused = [](const std::string& from, const std::string& to) {
    return ParseDecoderConfig(absl::StrReplaceAll(kNomicBert, {{from, to}}),
                              "config.json")
        .status();
  };
  for (const char* key : {"prenorm", "parallel_block", "use_rms_norm", "causal",
                          "rotary_emb_interleaved", "mlp_fc2_bias"}) {
    const absl::Status status = refused(absl::StrCat("\"", key, "\": false"),
                                        absl::StrCat("\"", key, "\": true"));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented)) << key;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
  }
  for (const auto& [from, to] :
       {std::make_pair("\"rotary_emb_scale_base\": null",
                       "\"rotary_emb_scale_base\": 512"),
        std::make_pair("\"rotary_emb_fraction\": 1.0",
                       "\"rotary_emb_fraction\": 0.5"),
        std::make_pair("\"swiglu\"", "\"gelu\""),
        std::make_pair("\"causal\": false",
                       "\"causal\": false, \"num_experts\": 8")}) {
    EXPECT_THAT(refused(from, to), StatusIs(absl::StatusCode::kUnimplemented))
        << to;
  }
}

TEST(ParseDecoderConfigTest, ReadsABidirectionalGemma) {
  const auto config = With(kGemma, R"("use_bidirectional_attention": true)");
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->is_bidirectional);
  // 256 tokens before, 256 after, and the token itself.
  EXPECT_EQ(config->sliding.window, 257);
  EXPECT_EQ(config->cached_layers(), 1);
  EXPECT_EQ(ParseDecoderConfig(kGemma, "c")->cached_layers(), 26);
}

TEST(ParseDecoderConfigTest, RefusesEveryShortenedConfig) {
  const std::string whole = kGpt2;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(ParseDecoderConfig(whole.substr(0, length), "c"), Not(IsOk()));
  }
}

TEST(ReadDecoderConfigTest, SaysWhatAFolderHolds) {
  const auto config = ReadDecoderConfig("/nowhere/config.json");
  EXPECT_THAT(config, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(
      absl::StrContains(config.status().message(), "/nowhere/config.json"));
}

}  // namespace
}  // namespace footprint

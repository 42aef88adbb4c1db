#include "footprint/lowmem/models/decoder_config.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

// As the public gpt2-large has it.
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
      "known are \"gpt2\""));
}

TEST(ParseDecoderConfigTest, SaysWhetherTheOutputIsTheTableOfWords) {
  const std::string key = "\"vocab_size\"";
  EXPECT_TRUE(Changed(key, key)->ties_output);
  EXPECT_TRUE(
      Changed(key, "\"tie_word_embeddings\": true, " + key)->ties_output);
  EXPECT_FALSE(
      Changed(key, "\"tie_word_embeddings\": false, " + key)->ties_output);
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

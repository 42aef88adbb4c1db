#include "footprint/lowmem/models/encoder_config.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/simd/activation.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

constexpr char kBert[] = R"({
  "architectures": ["BertForMaskedLM"], "model_type": "bert",
  "hidden_act": "gelu", "hidden_size": 1024, "intermediate_size": 4096,
  "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
  "num_attention_heads": 16, "num_hidden_layers": 24, "type_vocab_size": 2,
  "vocab_size": 30522, "position_embedding_type": "absolute"})";
constexpr char kDistilBert[] = R"({
  "model_type": "distilbert", "activation": "gelu", "dim": 768,
  "hidden_dim": 3072, "max_position_embeddings": 512, "n_heads": 12,
  "n_layers": 6, "vocab_size": 28996})";

TEST(ParseEncoderConfigTest, ReadsBothFamilies) {
  const auto bert = ParseEncoderConfig(kBert, "config.json");
  ASSERT_THAT(bert, IsOk());
  EXPECT_EQ(bert->family, EncoderFamily::kBert);
  EXPECT_EQ(bert->layers, 24);
  EXPECT_EQ(bert->hidden, 1024);
  EXPECT_EQ(bert->heads, 16);
  EXPECT_EQ(bert->head_features(), 64);
  EXPECT_EQ(bert->intermediate, 4096);
  EXPECT_EQ(bert->vocabulary, 30522);
  EXPECT_EQ(bert->positions, 512);
  EXPECT_EQ(bert->token_types, 2);
  EXPECT_EQ(bert->epsilon, 1e-12f);
  EXPECT_EQ(bert->activation, Activation::kGelu);
  const auto distil = ParseEncoderConfig(kDistilBert, "config.json");
  ASSERT_THAT(distil, IsOk());
  EXPECT_EQ(distil->family, EncoderFamily::kDistilBert);
  EXPECT_EQ(distil->layers, 6);
  EXPECT_EQ(distil->hidden, 768);
  EXPECT_EQ(distil->intermediate, 3072);
  EXPECT_EQ(distil->token_types, 0);
}

std::string Fault(const std::string& from, const std::string& to,
                  absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const auto config = ParseEncoderConfig(
      absl::StrReplaceAll(kBert, {{from, to}}), "config.json");
  EXPECT_THAT(config, StatusIs(code));
  return std::string(config.status().message());
}

TEST(ParseEncoderConfigTest, SaysWhichKeyIsWrong) {
  EXPECT_EQ(Fault("\"hidden_size\"", "\"size\""),
            "config.json: hidden_size is missing");
  for (const char* bad : {"-4", "0", "1.5", "\"24\"", "null", "2000000000"}) {
    EXPECT_TRUE(absl::StrContains(Fault(": 24", absl::StrCat(": ", bad)),
                                  "num_hidden_layers is not a whole number"));
  }
  EXPECT_EQ(Fault("16", "15"),
            "config.json: hidden size 1024 is not a multiple of the 15 heads");
  EXPECT_TRUE(absl::StrContains(Fault("1e-12", "0"), "layer_norm_eps"));
  EXPECT_TRUE(absl::StrContains(Fault("1e-12", "\"x\""), "layer_norm_eps"));
  EXPECT_EQ(Fault("{", "["),
            "config.json: is not a JSON object; copy the file of the published "
            "checkpoint again");
  EXPECT_EQ(Fault("\"gelu\"", "\"mish\"", absl::StatusCode::kUnimplemented),
            "config.json: hidden_act is \"mish\"; known are \"gelu\", "
            "\"gelu_new\", \"gelu_pytorch_tanh\", \"relu\" and \"silu\"");
  EXPECT_TRUE(absl::StrContains(
      Fault("\"bert\"", "\"deberta\"", absl::StatusCode::kUnimplemented),
      "deberta"));
  EXPECT_TRUE(absl::StrContains(Fault("\"absolute\"", "\"relative_key\"",
                                      absl::StatusCode::kUnimplemented),
                                "relative_key"));
}

// Causal attention would be another model, and no tensor would reveal it.
TEST(ParseEncoderConfigTest, RefusesADecoder) {
  EXPECT_TRUE(absl::StrContains(
      Fault("\"model_type\"", "\"is_decoder\": true, \"model_type\"",
            absl::StatusCode::kUnimplemented),
      "is_decoder is \"true\""));
  EXPECT_THAT(
      ParseEncoderConfig(absl::StrReplaceAll(kBert, {{"\"model_type\"",
                                                      "\"is_decoder\": false, "
                                                      "\"model_type\""}}),
                         "config.json"),
      IsOk());
}

// RoBERTa's config has BERT's keys; only its name tells them apart.
TEST(ParseEncoderConfigTest, KnowsRobertaByItsNameAlone) {
  constexpr char kRoberta[] = R"({KEYS
    "bos_token_id": 0, "eos_token_id": 2, "hidden_act": "gelu",
    "hidden_size": 768, "intermediate_size": 3072, "layer_norm_eps": 1e-05,
    "max_position_embeddings": 514, "num_attention_heads": 12,
    "num_hidden_layers": 12, "pad_token_id": 1, "type_vocab_size": 1,
    "vocab_size": 50265})";
  const auto parse = [&](const char* keys) {
    return ParseEncoderConfig(absl::StrReplaceAll(kRoberta, {{"KEYS", keys}}),
                              "config.json");
  };
  EXPECT_THAT(parse(""), Not(IsOk()));
  for (const char* keys : {R"("architectures": ["RobertaForMaskedLM"],)",
                           R"("model_type": "xlm-roberta",)"}) {
    const auto roberta = parse(keys);
    ASSERT_THAT(roberta, IsOk()) << keys;
    EXPECT_EQ(roberta->family, EncoderFamily::kRoberta);
    EXPECT_EQ(roberta->padding_id, 1);
    EXPECT_EQ(roberta->first_position, 2);
    EXPECT_EQ(roberta->positions, 512);
    EXPECT_EQ(roberta->position_rows(), 514);
    EXPECT_EQ(roberta->token_types, 1);
  }
  EXPECT_TRUE(absl::StrContains(parse("").status().message(), "RoBERTa"));
  // The same keys with BERT's name are those of BERT.
  EXPECT_THAT(parse(R"("architectures": ["BertModel"],)"), IsOk());
  EXPECT_TRUE(absl::StrContains(
      parse(R"("model_type": "gpt2",)").status().message(), "gpt2"));
}

TEST(ParseEncoderConfigTest, RefusesEveryShortenedConfig) {
  const std::string whole = kBert;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(ParseEncoderConfig(whole.substr(0, length), "c"), Not(IsOk()));
  }
}

TEST(ParseEncoderConfigTest, KnowsBothNamesOfAnActivation) {
  for (const char* name : {"gelu_new", "gelu_pytorch_tanh"}) {
    const auto config = ParseEncoderConfig(
        absl::StrReplaceAll(kBert,
                            {{"\"gelu\"", absl::StrCat("\"", name, "\"")}}),
        "config.json");
    ASSERT_THAT(config, IsOk());
    EXPECT_EQ(config->activation, Activation::kGeluTanh);
  }
}

// A classifier with many labels has a large config.
TEST(ReadEncoderConfigTest, ReadsLargeConfigsAndRefusesOthers) {
  const auto read = [](size_t bytes) {
    const std::string labels(bytes, 'x');
    return ReadEncoderConfig(WriteTestFile(
        "config.json",
        absl::StrReplaceAll(
            kBert, {{"\"model_type\"", absl::StrCat("\"label\": \"", labels,
                                                    "\", \"model_type\"")}})));
  };
  for (const size_t bytes : {16 << 10, 300000, 1 << 20}) {
    const auto config = read(bytes);
    ASSERT_THAT(config, IsOk());
    EXPECT_EQ(config->layers, 24);
  }
  const auto larger = read(4 << 20);
  EXPECT_TRUE(
      absl::StrContains(larger.status().message(), "larger than 4194304"))
      << larger.status();
}

TEST(ReadEncoderConfigTest, SaysWhatAFolderHolds) {
  const auto config = ReadEncoderConfig("/nowhere/config.json");
  EXPECT_THAT(config, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(
      absl::StrContains(config.status().message(), "/nowhere/config.json"));
}

TEST(EncoderConfigTest, ReadsMpnet) {
  const auto config = [](const std::string& more) {
    return ParseEncoderConfig(
        absl::StrCat(R"({"model_type": "mpnet", "hidden_size": 8,
                         "num_hidden_layers": 1, "num_attention_heads": 2,
                         "intermediate_size": 8, "vocab_size": 5,
                         "max_position_embeddings": 514)",
                     more, "}"),
        "config.json");
  };
  const auto mpnet = config("");
  ASSERT_THAT(mpnet, IsOk());
  EXPECT_EQ(mpnet->family, EncoderFamily::kMpnet);
  EXPECT_EQ(mpnet->positions, 512);
  EXPECT_EQ(mpnet->token_types, 0);
  EXPECT_EQ(mpnet->distances, 32);
  EXPECT_THAT(config(R"(, "relative_attention_num_buckets": 16)"),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/checkpoints/model_family.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Returns the family of a config with `keys` before BERT's keys.
absl::StatusOr<ModelFamily> Family(const std::string& keys) {
  auto reader = ConfigReader::Parse(
      absl::StrCat("{", keys, "\"hidden_size\": 64, \"num_hidden_layers\": 2}"),
      "config.json");
  EXPECT_THAT(reader, IsOk());
  const ModelFamily family = FindModelFamily(*reader);
  if (!reader->status().ok()) return reader->status();
  return family;
}

TEST(FindModelFamilyTest, TakesTheModelType) {
  EXPECT_EQ(*Family(R"("model_type": "bert",)"), ModelFamily::kBert);
  EXPECT_EQ(*Family(R"("model_type": "distilbert",)"),
            ModelFamily::kDistilBert);
  EXPECT_EQ(*Family(R"("model_type": "gpt2",)"), ModelFamily::kGpt2);
  for (int i = 0; i < kModelFamilies; ++i) {
    const auto family = static_cast<ModelFamily>(i);
    EXPECT_EQ(*Family(absl::StrCat("\"model_type\": \"",
                                   ModelFamilyName(family), "\",")),
              family);
  }
  // The padding and the class name do not matter if "model_type" decides.
  EXPECT_EQ(*Family(R"("model_type": "bert", "pad_token_id": 1,
                       "architectures": ["HF_ColBERT"],)"),
            ModelFamily::kBert);
}

TEST(FindModelFamilyTest, TakesTheArchitecturesWhereThereIsNoModelType) {
  EXPECT_EQ(*Family(R"("architectures": ["BertForMaskedLM"],)"),
            ModelFamily::kBert);
  EXPECT_EQ(*Family(R"("architectures": ["DistilBertModel"],
                       "model_type": null,)"),
            ModelFamily::kDistilBert);
  EXPECT_EQ(*Family(R"("architectures": ["GPT2LMHeadModel"],)"),
            ModelFamily::kGpt2);
}

TEST(FindModelFamilyTest, KnowsRobertaByItsName) {
  EXPECT_EQ(*Family(R"("model_type": "roberta",
                       "architectures": ["RobertaForMaskedLM"],)"),
            ModelFamily::kRoberta);
  EXPECT_EQ(*Family(R"("architectures": ["XLMRobertaModel"],)"),
            ModelFamily::kXlmRoberta);
  EXPECT_EQ(*Family(R"("model_type": "camembert",)"), ModelFamily::kCamembert);
  EXPECT_EQ(*Family(R"("model_type": "mpnet",)"), ModelFamily::kMpnet);
  EXPECT_EQ(*Family(R"("architectures": ["MPNetForMaskedLM"],)"),
            ModelFamily::kMpnet);
  EXPECT_FALSE(IsDecoderFamily(ModelFamily::kXlmRoberta));
  EXPECT_THAT(Family(R"("model_type": "roberta",
                        "architectures": ["BertModel"],)"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// The classes of mixtures of experts and image models begin with the same
// letters.
TEST(FindModelFamilyTest, TakesNoOtherFamilyForADecoder) {
  EXPECT_EQ(*Family(R"("architectures": ["Qwen2ForCausalLM"],)"),
            ModelFamily::kQwen2);
  EXPECT_EQ(*Family(R"("architectures": ["Gemma3TextModel"],)"),
            ModelFamily::kGemma3);
  for (const char* name :
       {"Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM", "Phi3VForCausalLM",
        "Gemma3ForConditionalGeneration", "LlamaForConditional",
        "ModernBertDecoderForCausalLM"}) {
    EXPECT_THAT(Family(absl::StrCat("\"architectures\": [\"", name, "\"],")),
                StatusIs(absl::StatusCode::kUnimplemented))
        << name;
  }
  for (const ModelFamily family :
       {ModelFamily::kGpt2, ModelFamily::kLlama, ModelFamily::kPhi3}) {
    EXPECT_TRUE(IsDecoderFamily(family));
  }
  for (const ModelFamily family :
       {ModelFamily::kModernBert, ModelFamily::kNomicBert}) {
    EXPECT_FALSE(IsDecoderFamily(family));
    EXPECT_TRUE(HasDecoderLayers(family));
  }
  EXPECT_TRUE(HasDecoderLayers(ModelFamily::kGpt2));
  EXPECT_FALSE(HasDecoderLayers(ModelFamily::kMpnet));
  EXPECT_FALSE(IsDecoderFamily(ModelFamily::kBert));
  EXPECT_FALSE(IsDecoderFamily(ModelFamily::kDistilBert));
}

TEST(FindModelFamilyTest, RefusesOtherFamilies) {
  for (const char* keys :
       {R"("model_type": "Bert",)",
        R"("architectures": ["MPNetForMultipleChoices"],)",
        R"("architectures": ["XLMRobertaXLModel"], "pad_token_id": 0,)",
        R"("architectures": ["HF_ColBERT"], "pad_token_id": 0,)"}) {
    EXPECT_THAT(Family(keys), StatusIs(absl::StatusCode::kUnimplemented))
        << keys;
  }
}

TEST(FindModelFamilyTest, RefusesOtherLibrariesQuantisation) {
  EXPECT_THAT(Family(R"("model_type": "llama", "quantization_config":
                         {"bits": 4, "quant_method": "gptq"},)"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("quantization_config is \"gptq\"")));
  EXPECT_THAT(Family(R"("model_type": "bert", "quantization_config": {},)"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("quantization_config is \"set\"")));
  EXPECT_THAT(Family(R"("model_type": "bert", "quantization_config": 4,)"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Family(R"("model_type": "bert", "quantization_config": null,)"),
              IsOk());
}

TEST(FindModelFamilyTest, RefusesContradictions) {
  for (const char* keys :
       {R"("model_type": "bert", "architectures": ["RobertaModel"],)",
        R"("model_type": "bert", "architectures": ["XLMRobertaModel"],)",
        R"("model_type": "bert", "architectures": ["GPT2LMHeadModel"],)",
        R"("model_type": "gpt2", "architectures": ["BertModel"],)",
        R"("architectures": ["BertModel", "RobertaModel"],)"}) {
    const absl::Status status = Family(keys).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << keys;
    EXPECT_THAT(status.message(), HasSubstr("but architectures name")) << keys;
  }
}

// A RoBERTa without its name would run as BERT with wrong states.
TEST(FindModelFamilyTest, TellsBertByItsPaddingOrNotAtAll) {
  EXPECT_EQ(*Family(R"("pad_token_id": 0,)"), ModelFamily::kBert);
  EXPECT_EQ(*Family(R"("pad_token_id": 0, "architectures": [],)"),
            ModelFamily::kBert);
  for (const char* keys :
       {"", R"("pad_token_id": 1,)", R"("pad_token_id": null,)",
        R"("architectures": [], "pad_token_id": 1,)"}) {
    const absl::Status status = Family(keys).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << keys;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("model_type is missing"), HasSubstr("RoBERTa"),
                      HasSubstr("\"bert\", \"distilbert\", \"roberta\""),
                      HasSubstr("\"qwen3\", \"gemma3_text\"")))
        << keys;
  }
  EXPECT_THAT(Family(R"("pad_token_id": "0",)").status().message(),
              HasSubstr("pad_token_id is not a number"));
}

TEST(FindModelFamilyTest, SaysThatTheFamilyIsMissing) {
  auto reader = ConfigReader::Parse(
      R"({"n_embd": 64, "n_layer": 2, "pad_token_id": 0})", "config.json");
  ASSERT_THAT(reader, IsOk());
  FindModelFamily(*reader);
  EXPECT_THAT(reader->status().message(),
              AllOf(HasSubstr("config.json: model_type is missing"),
                    HasSubstr("\"gpt2\"")));
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/checkpoints/decoder_form.h"

#include <set>
#include <string>

#include "footprint/lowmem/checkpoints/model_family.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

TEST(DecoderFormTest, HasEveryDecoderAfterGpt2Once) {
  std::set<ModelFamily> families;
  for (const ModelFamily family : DecoderFormFamilies()) {
    EXPECT_TRUE(families.insert(family).second) << ModelFamilyName(family);
    EXPECT_TRUE(IsDecoderFamily(family)) << ModelFamilyName(family);
    EXPECT_TRUE(HasDecoderForm(family));
    EXPECT_EQ(FindDecoderForm(family).family, family);
  }
  for (int i = 0; i < kModelFamilies; ++i) {
    const auto family = static_cast<ModelFamily>(i);
    EXPECT_EQ(families.count(family) == 1,
              IsDecoderFamily(family) && family != ModelFamily::kGpt2)
        << ModelFamilyName(family);
  }
}

TEST(DecoderFormTest, FindsAnArchitecture) {
  std::set<std::string> names;
  for (const ModelFamily family : DecoderFormFamilies()) {
    const DecoderForm& form = FindDecoderForm(family);
    if (form.gguf_name == nullptr) continue;
    EXPECT_TRUE(names.insert(form.gguf_name).second) << form.gguf_name;
    EXPECT_EQ(FindDecoderFormOfGguf(form.gguf_name), &form);
  }
  EXPECT_EQ(FindDecoderFormOfGguf("falcon"), nullptr);
  EXPECT_EQ(GgufArchitectures().size(), names.size());
  EXPECT_EQ(GgufArchitectures()[1], "\"qwen2\"");
}

TEST(DecoderFormTest, HasKeysThatAreJson) {
  for (const ModelFamily family : DecoderFormFamilies()) {
    const DecoderForm& form = FindDecoderForm(family);
    const auto keys = nlohmann::json::parse(form.public_keys, nullptr, false);
    ASSERT_TRUE(keys.is_object()) << ModelFamilyName(family);
    EXPECT_TRUE(keys.contains(form.activation_key)) << ModelFamilyName(family);
  }
}

TEST(DecoderFormTest, KnowsWhenLayersRepeat) {
  EXPECT_EQ(FindDecoderForm(ModelFamily::kLlama).layer_cycle(), 1);
  EXPECT_EQ(FindDecoderForm(ModelFamily::kGemma3).layer_cycle(), 6);
  EXPECT_EQ(FindDecoderForm(ModelFamily::kSmolLm3).layer_cycle(), 4);
}

}  // namespace
}  // namespace footprint

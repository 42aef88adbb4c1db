// Values of modules are compared with torch's in text_embedder_test.

#include "footprint/lowmem/models/dense_layer.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;

constexpr char kDense[] =
    "lowmem/models/testdata/golden_dense_embedder/2_Dense";

// A folder with the golden module's weights and this configuration.
std::string Folder(const std::string& config) {
  const std::string folder = TestPath("dense");
  mkdir(folder.c_str(), 0777);
  const std::string weights =
      ReadTestFile(absl::StrCat(kDense, "/model.safetensors"));
  EXPECT_THAT(
      ReplaceFile(folder + "/model.safetensors", weights, ToDisk::kNoFsync),
      IsOk());
  EXPECT_THAT(ReplaceFile(folder + "/config.json", config, ToDisk::kNoFsync),
              IsOk());
  return folder;
}

std::string Config(const std::string& name, int outputs = 24) {
  return absl::StrCat(R"({"in_features": 16, "bias": true, "out_features": )",
                      outputs, R"(, "activation_function": "torch.nn.)", name,
                      R"("})");
}

float First(const std::string& name) {
  const auto dense = DenseModule::Open(Folder(Config(name)));
  EXPECT_THAT(dense, IsOk());
  EXPECT_EQ(dense->layer().inputs(), 16);
  std::vector<float> output(dense->layer().outputs());
  EXPECT_THAT(dense->layer().Apply(std::vector<float>(16, 0.5f),
                                   absl::MakeSpan(output)),
              IsOk());
  return output[0];
}

TEST(DenseModuleTest, AppliesEachActivation) {
  const float sum = First("modules.linear.Identity");
  ASSERT_NE(sum, 0);
  EXPECT_THAT(First("modules.activation.Tanh"),
              FloatNear(std::tanh(sum), 1e-6f));
  EXPECT_THAT(First("modules.activation.ReLU"), std::max(sum, 0.0f));
  EXPECT_THAT(First("modules.activation.Sigmoid"),
              FloatNear(1 / (1 + std::exp(-sum)), 1e-6f));
  EXPECT_THAT(
      First("modules.activation.GELU"),
      FloatNear(0.5f * sum * (1 + std::erf(sum / std::sqrt(2.0f))), 1e-6f));
}

TEST(DenseModuleTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(DenseModule::Open(Folder(Config("Odd"))).status().message(),
              HasSubstr("activation_function is \"torch.nn.Odd\""));
  EXPECT_THAT(DenseModule::Open(Folder(Config("modules.Tanh", 23))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(DenseModule::Open(Folder("{}")).status().message(),
              HasSubstr("in_features"));
  EXPECT_THAT(DenseModule::Open("/nowhere"), Not(IsOk()));
}

}  // namespace
}  // namespace footprint

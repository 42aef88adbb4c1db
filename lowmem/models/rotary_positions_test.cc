#include "footprint/lowmem/models/rotary_positions.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

absl::StatusOr<RotaryPositions> Read(const std::string& json,
                                     int64_t features = 16) {
  auto config = ConfigReader::Parse(json, "config.json");
  if (!config.ok()) return config.status();
  RotaryDefaults defaults;
  defaults.head_features = features;
  defaults.positions = 8192;
  const RotaryPositions rotary = ReadRotaryPositions(*config, defaults);
  if (!config->status().ok()) return config->status();
  return rotary;
}

double Plain(double theta, int64_t pair, int64_t features) {
  return std::pow(
      theta, -2.0 * static_cast<double>(pair) / static_cast<double>(features));
}

TEST(RotaryPositionsTest, FallGeometrically) {
  const auto rotary = Read("{}");
  ASSERT_THAT(rotary, IsOk());
  ASSERT_EQ(rotary->pairs(), 8);
  EXPECT_EQ(rotary->scale, 1);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(rotary->frequencies[i] / Plain(10000, i, 16), 1, 1.2e-7);
  }
}

// The constants are those of transformers 5.12 with torch 2.14.
TEST(RotaryPositionsTest, HasTransformersBits) {
  const auto rotary = Read(R"({"rope_theta": 500000.0})");
  ASSERT_THAT(rotary, IsOk());
  EXPECT_EQ(
      rotary->frequencies,
      (std::vector<float>{1.0f, 0x1.8d2760p-3f, 0x1.341190p-5f, 0x1.ddee9ep-8f,
                          0x1.72ba42p-10f, 0x1.1f91f0p-12f, 0x1.be2188p-15f,
                          0x1.5a0f4ep-17f}));
}

TEST(RotaryPositionsTest, ReadsThetaAndScalingWhereverTheyStand) {
  const auto beside = Read(
      R"({"rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 4}})");
  const auto within = Read(
      R"({"rope_parameters": {"rope_type": "linear", "factor": 4,
                              "rope_theta": 1e6}})");
  ASSERT_THAT(beside, IsOk());
  ASSERT_THAT(within, IsOk());
  EXPECT_TRUE(*beside == *within);
  EXPECT_NEAR(beside->frequencies[3] * 4 / Plain(1e6, 3, 16), 1, 3e-7);
  EXPECT_TRUE(*Read(R"({"rope_scaling": null})") == *Read("{}"));
}

TEST(RotaryPositionsTest, RotatesAPartOfTheFeatures) {
  const auto rotary = Read(R"({"partial_rotary_factor": 0.5})");
  ASSERT_THAT(rotary, IsOk());
  ASSERT_EQ(rotary->pairs(), 4);
  EXPECT_NEAR(rotary->frequencies[1], Plain(10000, 1, 8), 1e-7);
}

// High frequencies stay, low ones are divided, and some lie between.
TEST(RotaryPositionsTest, ScalesAsLlama3) {
  const auto rotary = Read(
      R"({"rope_theta": 500000.0, "rope_scaling": {
          "rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
          "high_freq_factor": 4, "original_max_position_embeddings": 8192}})",
      128);
  ASSERT_THAT(rotary, IsOk());
  EXPECT_NEAR(rotary->frequencies[10] / Plain(5e5, 10, 128), 1, 1e-6);
  EXPECT_NEAR(rotary->frequencies[60] * 8 / Plain(5e5, 60, 128), 1, 1e-6);
  const double middle = rotary->frequencies[31] / Plain(5e5, 31, 128);
  EXPECT_GT(middle, 0.126);
  EXPECT_LT(middle, 0.999);
}

TEST(RotaryPositionsTest, ScalesAsYarn) {
  const std::string yarn =
      R"({"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn",
          "factor": 4, "original_max_position_embeddings": 2048)";
  const auto rotary = Read(yarn + "}}", 64);
  ASSERT_THAT(rotary, IsOk());
  EXPECT_NEAR(rotary->scale, 0.1 * std::log(4.0) + 1, 1e-6);
  EXPECT_NEAR(rotary->frequencies[0], 1, 1e-6);
  EXPECT_NEAR(rotary->frequencies[31] * 4 / Plain(1e6, 31, 64), 1, 1e-6);
  EXPECT_EQ(Read(yarn + R"(, "attention_factor": 1.5}})", 64)->scale, 1.5f);
  // Equal values of both cancel out.
  EXPECT_EQ(Read(yarn + R"(, "mscale": 0.7, "mscale_all_dim": 0.7}})")->scale,
            1.0f);
}

// The values are from transformers 5.12; the ramp begins before the first pair.
TEST(RotaryPositionsTest, ScalesAsTransformersYarn) {
  const auto expect = [](const char* json, int64_t features,
                         const std::vector<float>& expected) {
    const auto rotary = Read(json, features);
    ASSERT_THAT(rotary, IsOk());
    EXPECT_EQ(rotary->scale, 1.138629436111989f);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(rotary->frequencies[i] / expected[i], 1, 2e-7) << i;
    }
  };
  expect(R"({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 4,
             "original_max_position_embeddings": 64}})",
         64,
         {0x1p+0f, 0x1.22ec48p-1f, 0x1.43dce8p-2f, 0x1.5e848ap-3f,
          0x1.6c310ep-4f, 0x1.62bfc2p-5f, 0x1.33281ap-6f, 0x1.8eec7ep-7f,
          0x1.030dc6p-7f, 0x1.507316p-8f});
  expect(R"({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 4,
             "original_max_position_embeddings": 2048}})",
         64,
         {0x1p+0f, 0x1.4c7bc0p-1f, 0x1.afd136p-2f, 0x1.186a08p-2f,
          0x1.6c310ep-3f, 0x1.d8ffacp-4f, 0x1.198f6ep-4f, 0x1.4c6fc0p-5f,
          0x1.8494a8p-6f, 0x1.c09974p-7f, 0x1.fdcbdep-8f, 0x1.1bc258p-8f});
  expect(R"({"rope_scaling": {"type": "yarn", "factor": 4,
             "original_max_position_embeddings": 8}})",
         16,
         {0x1p+0f, 0x1.43d136p-4f, 0x1.99999ap-6f, 0x1.030dc6p-7f,
          0x1.47ae14p-9f, 0x1.9e7c70p-11f, 0x1.0624dep-12f, 0x1.4b96c0p-14f});
}

TEST(RotaryPositionsTest, LongRopeEndsWhereItsShortFactorsDo) {
  const std::string factors =
      R"("short_factor": [1, 1, 2, 2], "long_factor": [9, 9, 9, 9])";
  const auto rotary = Read(
      R"({"original_max_position_embeddings": 4096, "rope_scaling":
          {"type": "su", )" +
          factors + "}}",
      8);
  ASSERT_THAT(rotary, IsOk());
  EXPECT_EQ(rotary->most_positions, 4096);
  EXPECT_NEAR(rotary->frequencies[2] * 2 / Plain(10000, 2, 8), 1, 1e-6);
  EXPECT_NEAR(rotary->scale, std::sqrt(1 + std::log(2.0) / std::log(4096.0)),
              1e-6);
  EXPECT_THAT(Read(R"({"rope_scaling": {"rope_type": "longrope", )" + factors +
                       R"(, "original_max_position_embeddings": 4096}})",
                   16)
                  .status()
                  .message(),
              HasSubstr("short_factor has 4 numbers, not the 8 of a head"));
}

TEST(RotaryPositionsTest, RefusesWhatItCannotCompute) {
  const auto fault = [](const std::string& parameters) {
    return std::string(
        Read(R"({"rope_parameters": )" + parameters + "}").status().message());
  };
  EXPECT_THAT(Read(R"({"rope_scaling": {"type": "dynamic", "factor": 2}})"),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(fault("3"), HasSubstr("rope_parameters is not an object"));
  EXPECT_THAT(fault(R"({"rope_type": "linear"})"),
              HasSubstr("factor is not a number above zero"));
  EXPECT_THAT(fault(R"({"rope_theta": 0.5})"),
              HasSubstr("rope_theta is not above 1"));
  EXPECT_THAT(fault(R"({"partial_rotary_factor": 1.5})"),
              HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(fault(R"({"rope_type": "yarn", "factor": 2})"),
              HasSubstr("original_max_position_embeddings is missing"));
  EXPECT_THAT(fault(R"({"rope_type": "llama3", "factor": 2,
                        "low_freq_factor": 4, "high_freq_factor": 4,
                        "original_max_position_embeddings": 64})"),
              HasSubstr("low_freq_factor is not below high_freq_factor"));
}

}  // namespace
}  // namespace footprint

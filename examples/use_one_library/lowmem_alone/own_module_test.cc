// Loads two layers from a checkpoint, one in memory at a time.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/lowmem/modules/lazy_loading.h"
#include "footprint/lowmem/modules/panel_activations.h"
#include "footprint/lowmem/modules/panel_modules.h"
#include "gtest/gtest.h"

namespace {

// The layers are like those of a PyTorch model: y = W x + b, 32 features to 32,
// twice.
constexpr int64_t kFeatures = 32;

absl::Status WriteCheckpoint(const std::string& path) {
  auto writer = footprint::SafetensorsWriter::Create(
      path, {{"0.weight", footprint::DType::kF32, {kFeatures, kFeatures}},
             {"0.bias", footprint::DType::kF32, {kFeatures}},
             {"1.weight", footprint::DType::kF32, {kFeatures, kFeatures}},
             {"1.bias", footprint::DType::kF32, {kFeatures}}});
  if (!writer.ok()) return writer.status();
  for (const float scale : {2.0f, 3.0f}) {
    std::vector<float> weight(kFeatures * kFeatures);
    for (int64_t i = 0; i < kFeatures; ++i) weight[i * kFeatures + i] = scale;
    const std::vector<float> bias(kFeatures, 1.0f);
    absl::Status status =
        writer->Append(weight.data(), weight.size() * sizeof(float));
    if (status.ok()) {
      status = writer->Append(bias.data(), bias.size() * sizeof(float));
    }
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

TEST(OwnModuleTest, HoldsOneLayerAtATime) {
  const std::string path = testing::TempDir() + "/two_layers.safetensors";
  const absl::Status written = WriteCheckpoint(path);
  ASSERT_TRUE(written.ok()) << written;
  footprint::SequentialModule model;
  model.Add(std::make_unique<footprint::LinearModule>(kFeatures, kFeatures));
  model.Add(std::make_unique<footprint::LinearModule>(kFeatures, kFeatures));
  const auto loaded = footprint::LazyLoading(&model, path, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();

  std::vector<float> row(kFeatures);
  for (int64_t i = 0; i < kFeatures; ++i) row[i] = static_cast<float>(i);
  const auto output =
      model.Run(footprint::PanelActivations::FromRows(row, kFeatures));
  ASSERT_TRUE(output.ok()) << output.status();
  for (int64_t i = 0; i < kFeatures; ++i) {
    EXPECT_EQ(output->At(0, i), 3 * (2 * row[i] + 1) + 1);
  }
  EXPECT_EQ((*loaded)->peak_bytes(), (*loaded)->parameter_bytes() / 2);
  EXPECT_EQ((*loaded)->held_bytes(), 0);
  EXPECT_TRUE((*loaded)->CheckFile().ok());
}

}  // namespace

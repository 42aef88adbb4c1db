#include "footprint/lowmem/models/weight_finder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/lowmem/weights/panels.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A store of tensors that hold zeros.
std::unique_ptr<WeightStore> Store(
    const std::string& name, const std::vector<TensorSpec>& tensors,
    const SafetensorsWriterOptions& options = {}) {
  const std::string path = TestPath(name);
  auto writer = SafetensorsWriter::Create(path, tensors, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const TensorSpec& tensor : tensors) {
    const int64_t bytes = *TensorBytes(tensor.dtype, tensor.shape);
    const std::string zeros(bytes, '\0');
    EXPECT_TRUE(writer->Append(zeros.data(), bytes).ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  auto store = WeightStore::Open(path, WeightBackend::kPread);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

TEST(WeightFinderTest, FindsWithAndWithoutThePrefix) {
  for (const std::string prefix : {"bert.", ""}) {
    const auto store =
        Store("prefix.safetensors", {{prefix + "words", DType::kF32, {5, 3}},
                                     {prefix + "bias", DType::kF16, {3}}});
    WeightFinder finder(*store, "bert.", "words");
    EXPECT_TRUE(finder.Has("bias"));
    EXPECT_FALSE(finder.Has("bert.bias"));
    const Weight words = finder.Matrix("words", 5, 3);
    EXPECT_EQ(words.tensor().name, prefix + "words");
    EXPECT_EQ(words.dtype(), DType::kF32);
    EXPECT_EQ(finder.Vector("bias", 3).dtype(), DType::kF16);
    EXPECT_TRUE(finder.status().ok()) << finder.status();
  }
}

TEST(WeightFinderTest, FindsLayersOfEitherOrder) {
  const auto store =
      Store("linear.safetensors", {{"rows.weight", DType::kBF16, {4, 3}},
                                   {"rows.bias", DType::kF32, {4}},
                                   {"columns.weight", DType::kF32, {3, 4}},
                                   {"columns.bias", DType::kF32, {4}}});
  WeightFinder finder(*store, "", "rows.weight");
  const LinearWeights rows = finder.Linear("rows", 4, 3);
  EXPECT_EQ(rows.matrix.rows(), 4);
  EXPECT_EQ(rows.bias.columns(), 4);
  EXPECT_EQ(rows.matrix.dtype(), DType::kBF16);
  const LinearWeights columns = finder.TransposedLinear("columns", 3, 4);
  EXPECT_EQ(columns.matrix.rows(), 3);
  EXPECT_EQ(columns.bias.columns(), 4);
  EXPECT_TRUE(finder.status().ok()) << finder.status();
  finder.Linear("columns", 4, 3);
  EXPECT_THAT(finder.status().message(),
              AllOf(HasSubstr("columns.weight is [3, 4]"),
                    HasSubstr("the config asks for [4, 3]")));
}

TEST(WeightFinderTest, KnowsBothNamesOfANormalization) {
  const auto store =
      Store("norm.safetensors", {{"new.weight", DType::kF32, {2}},
                                 {"new.bias", DType::kF32, {2}},
                                 {"old.gamma", DType::kF32, {2}},
                                 {"old.beta", DType::kF32, {2}}});
  WeightFinder finder(*store, "", "new.weight");
  EXPECT_EQ(finder.Norm("new", 2).gain.tensor().name, "new.weight");
  EXPECT_EQ(finder.Norm("old", 2).gain.tensor().name, "old.gamma");
  EXPECT_EQ(finder.Norm("old", 2).bias.tensor().name, "old.beta");
  EXPECT_TRUE(finder.status().ok()) << finder.status();
}

TEST(WeightFinderTest, NamesAMissingTensorWithNearOnes) {
  const auto store =
      Store("near.safetensors", {{"bert.words", DType::kF32, {5, 3}}});
  WeightFinder finder(*store, "bert.", "words");
  finder.Matrix("word", 5, 3);
  EXPECT_EQ(finder.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(finder.status().message(),
              AllOf(HasSubstr("bert.word"), HasSubstr("\"bert.words\"")));
}

TEST(WeightFinderTest, KeepsTheFirstFault) {
  const auto store = Store("first.safetensors", {{"a", DType::kF32, {1}}});
  WeightFinder finder(*store, "", "a");
  finder.Vector("a", 2);
  finder.Vector("b", 2);
  EXPECT_THAT(finder.status().message(), HasSubstr("a is [1]"));
}

TEST(WeightFinderTest, RefusesTypesItCannotComputeWith) {
  const auto store = Store("type.safetensors", {{"ids", DType::kI64, {3}}});
  WeightFinder finder(*store, "", "ids");
  finder.Vector("ids", 3);
  EXPECT_EQ(finder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(finder.status().message(), HasSubstr("ids holds I64"));
}

TEST(WeightFinderTest, RefusesALayerBeyondTheConfig) {
  const auto store = Store(
      "layers.safetensors",
      {{"t.h.0.bias", DType::kF32, {3}}, {"t.h.10.bias", DType::kF32, {3}}});
  WeightFinder finder(*store, "t.", "h.0.bias");
  finder.CheckNoLayer("h.1.", 1);
  EXPECT_TRUE(finder.status().ok()) << finder.status();
  finder.CheckNoLayer("h.10.", 10);
  EXPECT_THAT(finder.status().message(),
              AllOf(HasSubstr("t.h.10.bias"), HasSubstr("10 layers")));
}

// Sums are made of blocks of kSumBlock columns, which no panel may cut.
TEST(WeightFinderTest, RefusesPanelsThatCutASum) {
  for (const int64_t panel_columns : {256, 100}) {
    SafetensorsWriterOptions options;
    options.metadata[PanelsKey("m")] = PanelsText(2, 600, panel_columns);
    options.metadata[PanelsKey("t.weight")] = PanelsText(2, 600, panel_columns);
    const int64_t panels = (600 + panel_columns - 1) / panel_columns;
    const Shape packed = {panels, 2, panel_columns};
    const auto store = Store("panels.safetensors",
                             {{"m", DType::kF32, packed},
                              {"t.weight", DType::kF32, packed},
                              {"t.bias", DType::kF32, {600}}},
                             options);
    WeightFinder finder(*store, "", "m");
    finder.TransposedLinear("t", 2, 600);
    EXPECT_TRUE(finder.status().ok()) << finder.status();
    EXPECT_EQ(finder.Matrix("m", 2, 600).panel_columns(), panel_columns);
    EXPECT_EQ(finder.status().ok(), panel_columns == 256) << finder.status();
    if (panel_columns == 256) continue;
    const std::string path = TestPath("panels.safetensors");
    EXPECT_THAT(finder.status().message(),
                HasSubstr("lowmem_pack " + path + " " + path));
  }
}

}  // namespace
}  // namespace footprint

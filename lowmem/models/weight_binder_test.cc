#include "footprint/lowmem/models/weight_binder.h"

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
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/column_blocks.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Returns a store of tensors that hold zeros.
std::unique_ptr<WeightStore> Store(
    const std::string& name, const std::vector<TensorSpec>& tensors,
    const SafetensorsWriterOptions& options = {}) {
  const std::string path = TestPath(name);
  auto writer = SafetensorsWriter::Create(path, tensors, options);
  EXPECT_THAT(writer, IsOk());
  for (const TensorSpec& tensor : tensors) {
    const int64_t bytes = *TensorBytes(tensor.dtype, tensor.shape);
    const std::string zeros(bytes, '\0');
    EXPECT_THAT(writer->Append(zeros.data(), bytes), IsOk());
  }
  EXPECT_THAT(writer->Finish(), IsOk());
  auto store = WeightStore::Open(path, WeightBackend::kPread);
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

TEST(WeightBinderTest, FindsWithAndWithoutThePrefix) {
  for (const std::string prefix : {"bert.", ""}) {
    const auto store =
        Store("prefix.safetensors", {{prefix + "words", DType::kF32, {5, 3}},
                                     {prefix + "bias", DType::kF16, {3}}});
    WeightBinder binder(*store, "bert.", "words");
    EXPECT_TRUE(binder.Has("bias"));
    EXPECT_FALSE(binder.Has("bert.bias"));
    const Weight words = binder.Matrix("words", 5, 3);
    EXPECT_EQ(words.tensor().name, prefix + "words");
    EXPECT_EQ(words.dtype(), DType::kF32);
    EXPECT_EQ(binder.Vector("bias", 3).dtype(), DType::kF16);
    EXPECT_THAT(binder.status(), IsOk());
  }
}

TEST(WeightBinderTest, FindsLayersOfEitherOrder) {
  const auto store =
      Store("linear.safetensors", {{"rows.weight", DType::kBF16, {4, 3}},
                                   {"rows.bias", DType::kF32, {4}},
                                   {"columns.weight", DType::kF32, {3, 4}},
                                   {"columns.bias", DType::kF32, {4}}});
  WeightBinder binder(*store, "", "rows.weight");
  const LinearWeights rows = binder.Linear("rows", 4, 3);
  EXPECT_EQ(rows.matrix.rows(), 4);
  EXPECT_EQ(rows.bias.columns(), 4);
  EXPECT_EQ(rows.matrix.dtype(), DType::kBF16);
  const LinearWeights columns = binder.TransposedLinear("columns", 3, 4);
  EXPECT_EQ(columns.matrix.rows(), 3);
  EXPECT_EQ(columns.bias.columns(), 4);
  EXPECT_THAT(binder.status(), IsOk());
  binder.Linear("columns", 4, 3);
  EXPECT_THAT(binder.status().message(),
              AllOf(HasSubstr("columns.weight is [3, 4]"),
                    HasSubstr("the config asks for [4, 3]")));
}

TEST(WeightBinderTest, KnowsBothNamesOfANormalization) {
  const auto store =
      Store("norm.safetensors", {{"new.weight", DType::kF32, {2}},
                                 {"new.bias", DType::kF32, {2}},
                                 {"old.gamma", DType::kF32, {2}},
                                 {"old.beta", DType::kF32, {2}}});
  WeightBinder binder(*store, "", "new.weight");
  EXPECT_EQ(binder.Norm("new", 2).gain.tensor().name, "new.weight");
  EXPECT_EQ(binder.Norm("old", 2).gain.tensor().name, "old.gamma");
  EXPECT_EQ(binder.Norm("old", 2).bias.tensor().name, "old.beta");
  EXPECT_THAT(binder.status(), IsOk());
}

TEST(WeightBinderTest, NamesAMissingTensorWithNearOnes) {
  const auto store =
      Store("near.safetensors", {{"bert.words", DType::kF32, {5, 3}}});
  WeightBinder binder(*store, "bert.", "words");
  binder.Matrix("word", 5, 3);
  EXPECT_THAT(binder.status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(binder.status().message(),
              AllOf(HasSubstr("bert.word"), HasSubstr("\"bert.words\"")));
}

TEST(WeightBinderTest, KeepsTheFirstFault) {
  const auto store = Store("first.safetensors", {{"a", DType::kF32, {1}}});
  WeightBinder binder(*store, "", "a");
  binder.Vector("a", 2);
  binder.Vector("b", 2);
  EXPECT_THAT(binder.status().message(), HasSubstr("a is [1]"));
}

TEST(WeightBinderTest, RefusesTypesItCannotComputeWith) {
  const auto store = Store("type.safetensors", {{"ids", DType::kI64, {3}}});
  WeightBinder binder(*store, "", "ids");
  binder.Vector("ids", 3);
  EXPECT_THAT(binder.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(binder.status().message(), HasSubstr("ids holds I64"));
}

TEST(WeightBinderTest, RefusesALayerBeyondTheConfig) {
  const auto store = Store(
      "layers.safetensors",
      {{"t.h.0.bias", DType::kF32, {3}}, {"t.h.10.bias", DType::kF32, {3}}});
  WeightBinder binder(*store, "t.", "h.0.bias");
  binder.CheckNoLayer("h.1.", 1);
  EXPECT_THAT(binder.status(), IsOk());
  binder.CheckNoLayer("h.10.", 10);
  EXPECT_THAT(binder.status().message(),
              AllOf(HasSubstr("t.h.10.bias"), HasSubstr("10 layers")));
}

// Sums consist of blocks of kSumBlock columns, which no panel may cut.
TEST(WeightBinderTest, RefusesPanelsThatCutASum) {
  for (const int64_t block_columns : {256, 100}) {
    SafetensorsWriterOptions options;
    options.metadata[ColumnBlocksKey("m")] =
        ColumnBlocksText(2, 600, block_columns);
    options.metadata[ColumnBlocksKey("t.weight")] =
        ColumnBlocksText(2, 600, block_columns);
    const int64_t panels = (600 + block_columns - 1) / block_columns;
    const Shape packed = {panels, 2, block_columns};
    const auto store = Store("panels.safetensors",
                             {{"m", DType::kF32, packed},
                              {"t.weight", DType::kF32, packed},
                              {"t.bias", DType::kF32, {600}}},
                             options);
    WeightBinder binder(*store, "", "m");
    binder.TransposedLinear("t", 2, 600);
    EXPECT_THAT(binder.status(), IsOk());
    EXPECT_EQ(binder.Matrix("m", 2, 600).block_columns(), block_columns);
    EXPECT_EQ(binder.status().ok(), block_columns == 256) << binder.status();
    if (block_columns == 256) continue;
    const std::string path = TestPath("panels.safetensors");
    EXPECT_THAT(binder.status().message(),
                HasSubstr("lowmem_pack " + path + " " + path));
  }
}

}  // namespace
}  // namespace footprint

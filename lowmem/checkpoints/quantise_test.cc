#include "footprint/lowmem/checkpoints/quantise.h"

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/checkpoints/pack.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantise_row.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// Returns numbers such that no two rows are equal.
float Number(int64_t i) { return std::sin(static_cast<float>(i)) / 3; }

// Writes a file of float tensors; the numbers continue from one tensor to the
// next.
std::string WriteFloats(const std::string& name,
                        const std::vector<TensorSpec>& tensors) {
  const std::string path = TestPath(name);
  auto writer = SafetensorsWriter::Create(path, tensors);
  EXPECT_THAT(writer, IsOk());
  int64_t next = 0;
  for (const TensorSpec& tensor : tensors) {
    for (int64_t i = 0; i < tensor.shape.elements(); ++i, ++next) {
      const float number = Number(next);
      EXPECT_THAT(writer->Append(&number, sizeof(number)), IsOk());
    }
  }
  EXPECT_THAT(writer->Finish(), IsOk());
  return path;
}

std::vector<float> ReadFloats(WeightStore& store, const std::string& name) {
  const auto weight = store.Find(name);
  EXPECT_THAT(weight, IsOk());
  std::vector<float> values(weight->rows() * weight->columns());
  EXPECT_THAT(ReadRows(store, *weight, 0, weight->rows(), values.data()),
              IsOk());
  return values;
}

absl::Status QuantiseTo(const std::string& input, const std::string& output,
                        DType type) {
  QuantiseOptions options;
  options.type = type;
  return Quantise(input, output, options);
}

const std::vector<TensorSpec>& Tensors() {
  static const auto* const kTensors = new std::vector<TensorSpec>{
      {"model.embed_tokens.weight", DType::kF32, {7, 64}},
      {"model.norm.weight", DType::kF32, {64}},
      {"model.layers.0.mlp.down_proj.weight", DType::kF32, {5, 512}},
      {"odd.weight", DType::kF32, {3, 48}},
      {"h.0.attn.c_attn.weight", DType::kF32, {32, 96}},
      {"embeddings.position_embeddings.weight", DType::kF32, {4, 32}}};
  return *kTensors;
}

TEST(QuantiseTest, QuantisesMatricesAndKeepsTheRest) {
  const std::string input = WriteFloats("whole.safetensors", Tensors());
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    const std::string output = TestPath("quantised.gguf");
    ASSERT_THAT(QuantiseTo(input, output, type), IsOk());
    const auto store = WeightStore::Open(output, WeightBackend::kMmap);
    ASSERT_THAT(store, IsOk());
    int64_t first = 0;
    for (const TensorSpec& tensor : Tensors()) {
      const int64_t count = tensor.shape.elements();
      std::vector<float> expected(count);
      for (int64_t i = 0; i < count; ++i) expected[i] = Number(first + i);
      first += count;
      const bool is_quantised =
          tensor.name == "model.embed_tokens.weight" ||
          tensor.name.find("down_proj") != std::string::npos;
      const auto weight = (*store)->Find(tensor.name);
      ASSERT_THAT(weight, IsOk());
      EXPECT_EQ(weight->dtype(), is_quantised ? type : DType::kF32)
          << tensor.name;
      EXPECT_EQ(weight->shape(), tensor.shape);
      if (is_quantised) {
        std::vector<uint8_t> blocks(BytesOfElements(type, count));
        QuantiseRow(type, expected.data(), count, blocks.data());
        WidenToFloat(type, blocks.data(), count, expected.data());
      }
      EXPECT_EQ(ReadFloats(**store, tensor.name), expected) << tensor.name;
    }
  }
}

TEST(QuantiseTest, JoinsThePanelsOfAPackedFile) {
  const std::string input = WriteFloats("whole.safetensors", Tensors());
  const std::string packed = TestPath("packed.safetensors");
  PackOptions options;
  options.column_blocks = DefaultColumnBlockRules();
  ASSERT_THAT(Pack(input, packed, options), IsOk());
  ASSERT_THAT(QuantiseTo(input, TestPath("a.gguf"), DType::kQ8_0), IsOk());
  ASSERT_THAT(QuantiseTo(packed, TestPath("b.gguf"), DType::kQ8_0), IsOk());
  const auto a = WeightStore::Open(TestPath("a.gguf"), WeightBackend::kPread);
  const auto b = WeightStore::Open(TestPath("b.gguf"), WeightBackend::kPread);
  for (const TensorSpec& tensor : Tensors()) {
    EXPECT_EQ(ReadFloats(**a, tensor.name), ReadFloats(**b, tensor.name));
  }
}

TEST(QuantiseTest, RefusesWhatCannotBeQuantised) {
  const std::string none =
      WriteFloats("none.safetensors", {{"odd.weight", DType::kF32, {3, 48}}});
  const std::string output = TestPath("refused.gguf");
  const absl::Status nothing = QuantiseTo(none, output, DType::kQ8_0);
  EXPECT_THAT(nothing, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(nothing.message()), HasSubstr("nothing to quantise"));
  EXPECT_THAT(QuantiseTo(none, output, DType::kQ6K),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string path = TestPath("nan.safetensors");
  auto writer = SafetensorsWriter::Create(path, {{"m", DType::kF32, {1, 32}}});
  std::vector<float> numbers(32, std::numeric_limits<float>::quiet_NaN());
  ASSERT_THAT(writer->Append(numbers.data(), 128), IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  const absl::Status nan = QuantiseTo(path, output, DType::kQ8_0);
  EXPECT_THAT(std::string(nan.message()),
              HasSubstr("tensor \"m\" has a number that is not finite"));
  EXPECT_THAT(WeightStore::Open(output, WeightBackend::kPread),
              StatusIs(absl::StatusCode::kNotFound));
}

// Replacing the input would lose the floats.
TEST(QuantiseTest, NeverReplacesItsInput) {
  const std::string input = WriteFloats("whole.safetensors", Tensors());
  const std::string before = ReadTestFile(input);
  const std::string link = TestPath("link.safetensors");
  ASSERT_EQ(symlink("whole.safetensors", link.c_str()), 0);
  for (const std::string& output : {input, link}) {
    const absl::Status status = QuantiseTo(input, output, DType::kQ8_0);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("is a file of the checkpoint that is read"));
  }
  EXPECT_EQ(ReadTestFile(input), before);
}

TEST(QuantiseTest, RefusesWhatABlockCannotHold) {
  const std::string path = TestPath("large.safetensors");
  const std::string output = TestPath("large.gguf");
  const auto quantise = [&](float number, DType type) {
    auto writer =
        SafetensorsWriter::Create(path, {{"m", DType::kF32, {1, 32}}});
    std::vector<float> numbers(32, 1);
    numbers[9] = number;
    EXPECT_THAT(writer->Append(numbers.data(), 128), IsOk());
    EXPECT_THAT(writer->Finish(), IsOk());
    return QuantiseTo(path, output, type);
  };
  const absl::Status status = quantise(-1e6f, DType::kQ4_0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tensor \"m\" has -1e+06, and a block of Q4_0 ends"));
  EXPECT_THAT(quantise(8.4e6f, DType::kQ8_0),
              StatusIs(absl::StatusCode::kInvalidArgument));
  for (const float number : {-1e6f, 8.3e6f}) {
    ASSERT_THAT(quantise(number, DType::kQ8_0), IsOk());
    const auto store = WeightStore::Open(output, WeightBackend::kPread);
    ASSERT_THAT(store, IsOk());
    EXPECT_NEAR(ReadFloats(**store, "m")[9] / number, 1, 0.001);
  }
}

TEST(QuantiseTest, KnowsItsTypesByName) {
  EXPECT_THAT(ParseQuantisedType("q8_0"), IsOkAndHolds(DType::kQ8_0));
  EXPECT_THAT(ParseQuantisedType("q4_0"), IsOkAndHolds(DType::kQ4_0));
  EXPECT_THAT(ParseQuantisedType("Q4_K"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PackTest, SaysThatAQuantisedFileNeedsNone) {
  const std::string input = WriteFloats("whole.safetensors", Tensors());
  const std::string quantised = TestPath("quantised.gguf");
  ASSERT_THAT(QuantiseTo(input, quantised, DType::kQ8_0), IsOk());
  const absl::Status status =
      Pack(quantised, TestPath("packed.safetensors"), PackOptions());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("needs no packing"));
}

}  // namespace
}  // namespace footprint

#include "footprint/lowmem/streaming/streamed_product.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/kernels/int8_product.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantise_row.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kRows = 37;
constexpr int64_t kColumns = 700;
constexpr int64_t kPanels = 3;

struct FreeAligned {
  void operator()(char* data) const { std::free(data); }
};
using AlignedBytes = std::unique_ptr<char, FreeAligned>;

// Allocates whole pages at a page boundary.
AlignedBytes Allocate(int64_t bytes) {
  return AlignedBytes(static_cast<char*>(
      std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
}

float* Floats(const AlignedBytes& bytes) {
  return reinterpret_cast<float*>(bytes.get());
}

class StreamedProductTest : public testing::Test {
 protected:
  StreamedProductTest() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& value : matrix_) value = normal(random);
    const int64_t count = kColumns * kPanels * kPanelTokens;
    input_ = Allocate(count * sizeof(float));
    for (int64_t i = 0; i < count; ++i) Floats(input_)[i] = normal(random);
    for (float& value : bias_) value = normal(random);
    path_ = WriteTestFile(
        "matrix.safetensors",
        SafetensorsBytes(
            absl::StrCat(R"({"m":{"dtype":"F32","shape":[)", kRows, ",",
                         kColumns, R"(],"data_offsets":[0,)",
                         matrix_.size() * sizeof(float), "]}}"),
            absl::string_view(reinterpret_cast<const char*>(matrix_.data()),
                              matrix_.size() * sizeof(float))));
  }

  PanelView Input(int64_t column) const {
    return {Floats(input_) + column * kPanelTokens, kColumns * kPanelTokens};
  }

  // Writes kRows rows of `columns` quantised numbers.
  std::string WriteQuantised(int64_t columns) const {
    GgufHeader header;
    header.AddTensor("m", DType::kQ8_0, {kRows, columns});
    std::vector<float> floats(kRows * columns);
    for (size_t i = 0; i < floats.size(); ++i) {
      floats[i] = matrix_[i % matrix_.size()];
    }
    std::string blocks(BytesOfElements(DType::kQ8_0, kRows * columns), '\0');
    QuantiseRow(DType::kQ8_0, floats.data(), kRows * columns,
                reinterpret_cast<uint8_t*>(&blocks[0]));
    return WriteTestFile("parts.gguf", header.Build() + blocks);
  }

  std::vector<float> matrix_ = std::vector<float>(kRows * kColumns);
  std::vector<float> bias_ = std::vector<float>(kRows);
  AlignedBytes input_;
  std::string path_;
};

TEST_F(StreamedProductTest, HasTheBitsOfTheWholeProductForEverySlot) {
  const int64_t count = kRows * kPanels * kPanelTokens;
  const AlignedBytes expected = Allocate(count * sizeof(float));
  const AlignedBytes actual = Allocate(count * sizeof(float));
  const ProductEpilogue epilogue = {{bias_.data(), false}, Activation::kGelu};
  const PanelOutput layout = {nullptr, kPanelTokens, kRows * kPanelTokens};
  for (const IndexRange columns :
       {IndexRange{0, kColumns}, IndexRange{256, 512}, IndexRange{512, 700}}) {
    MultiplyPanels({matrix_.data() + columns.begin, kColumns, 1}, kRows,
                   columns.size(), Input(columns.begin), kPanels, epilogue,
                   {Floats(expected), layout.row_stride, layout.panel_stride});
    for (const WeightBackend backend :
         {WeightBackend::kResident, WeightBackend::kPread,
          WeightBackend::kDirect, WeightBackend::kMmap}) {
      const auto store = WeightStore::Open(path_, backend);
      ASSERT_THAT(store, IsOk());
      const auto weight = (*store)->Find("m");
      ASSERT_THAT(weight, IsOk());
      for (const int64_t tile_bytes : {2800, 2801, 9000, 200000}) {
        ProductMemory memory;
        // Direct reads fetch whole pages.
        memory.slot_bytes = tile_bytes + 2 * 4096;
        const AlignedBytes slot = Allocate(memory.slot_bytes);
        memory.slot = slot.get();
        memory.tile_bytes = tile_bytes;
        StreamedProduct product(store->get(), memory);
        std::fill(Floats(actual), Floats(actual) + count, -1.0f);
        const absl::Status status = product.Multiply(
            *weight, {0, kRows}, columns, Input(columns.begin), kPanels,
            epilogue, {Floats(actual), layout.row_stride, layout.panel_stride});
        ASSERT_THAT(status, IsOk());
        EXPECT_TRUE(std::equal(Floats(actual), Floats(actual) + count,
                               Floats(expected)))
            << WeightBackendName(backend) << ", " << tile_bytes;
      }
    }
  }
}

TEST_F(StreamedProductTest, MultipliesPartOfTheRowsForASingleToken) {
  const auto store = WeightStore::Open(path_, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weight = (*store)->Find("m");
  std::vector<float> dense(kColumns);
  const AlignedBytes slot = Allocate(4096);
  StreamedProduct product(store->get(),
                          {slot.get(), 4096, 4096, nullptr, 0, dense.data()});
  product.UseSingleToken(Floats(input_), kColumns);
  std::vector<float> actual(20 * kPanelTokens, -1.0f);
  ASSERT_THAT(
      product.Multiply(*weight, {10, 30}, {0, kColumns}, {}, 0,
                       {{bias_.data() + 10}}, {actual.data(), kPanelTokens, 0}),
      IsOk());
  std::vector<float> expected(20);
  MultiplyVector(DType::kF32, matrix_.data() + 10 * kColumns, kColumns, 20,
                 kColumns, dense.data(), {{bias_.data() + 10}}, expected.data(),
                 1);
  for (int64_t row = 0; row < 20; ++row) {
    EXPECT_EQ(actual[row * kPanelTokens], expected[row]);
    EXPECT_EQ(actual[row * kPanelTokens + 1], -1.0f);
  }
}

// Single tokens beside panels: the panels have the bits of panels, each token
// those of a vector, and nothing else is written.
TEST_F(StreamedProductTest, MultipliesSingleTokensBesidePanels) {
  const auto store = WeightStore::Open(path_, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weight = (*store)->Find("m");
  const AlignedBytes slot = Allocate(9000);
  std::vector<StreamedProduct::SingleToken> all = {
      {0, 3, 1, 0}, {1, 7, 1, 5}, {0, 0, 2, 1}};
  for (int64_t lane = 1; lane < kPanelTokens; ++lane) {
    all.push_back({1, lane, 3, lane});
  }
  std::vector<float> dense(2 * kPanelTokens * kColumns);
  StreamedProduct product(store->get(),
                          {slot.get(), 9000, 9000, nullptr, 0, dense.data()});
  const ProductEpilogue epilogue = {{bias_.data(), false}, Activation::kGelu};
  constexpr int64_t kStride = kRows * kPanelTokens;
  constexpr int64_t kCount = 4 * kStride;
  const AlignedBytes actual = Allocate(kCount * sizeof(float));
  const AlignedBytes expected = Allocate(kCount * sizeof(float));
  for (const size_t count : {size_t{1}, size_t{3}, all.size()}) {
    const auto tokens = absl::MakeConstSpan(all).first(count);
    std::fill_n(Floats(actual), kCount, -1.0f);
    std::fill_n(Floats(expected), kCount, -1.0f);
    product.UseSingleTokens(Input(0), kColumns, tokens);
    ASSERT_THAT(
        product.Multiply(*weight, {0, kRows}, {0, kColumns}, Input(0), 1,
                         epilogue, {Floats(actual), kPanelTokens, kStride}),
        IsOk());
    MultiplyPanels({matrix_.data(), kColumns, 1}, kRows, kColumns, Input(0), 1,
                   epilogue, {Floats(expected), kPanelTokens, kStride});
    for (const StreamedProduct::SingleToken& token : tokens) {
      std::vector<float> vector(kColumns);
      for (int64_t i = 0; i < kColumns; ++i) {
        vector[i] = Input(0).data[token.panel * Input(0).panel_stride +
                                  i * kPanelTokens + token.lane];
      }
      MultiplyVector(
          DType::kF32, matrix_.data(), kColumns, kRows, kColumns, vector.data(),
          epilogue,
          Floats(expected) + token.output_panel * kStride + token.output_lane,
          kPanelTokens);
    }
    EXPECT_TRUE(
        std::equal(Floats(actual), Floats(actual) + kCount, Floats(expected)))
        << count << " tokens";
  }
}

TEST_F(StreamedProductTest, SaysWhenASlotHoldsNoRow) {
  const auto store = WeightStore::Open(path_, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weight = (*store)->Find("m");
  const AlignedBytes slot = Allocate(4096);
  StreamedProduct product(store->get(),
                          {slot.get(), 2799, 2800, nullptr, 0, nullptr});
  std::vector<float> output(kPanelTokens);
  EXPECT_THAT(product.Multiply(*weight, {0, 1}, {0, kColumns}, Input(0), 1, {},
                               {output.data(), kPanelTokens, 0}),
              StatusIs(absl::StatusCode::kInternal));
}

// A token whose outputs are used a part at a time has its own rounded input.
TEST_F(StreamedProductTest, RoundsEachSingleTokenOfParts) {
  constexpr int64_t kFeatures = 704;
  constexpr int64_t kTokens = kPanelTokens + 3;
  const std::string path = WriteQuantised(kFeatures);
  const auto store = WeightStore::Open(path, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weight = (*store)->Find("m");
  ASSERT_THAT(weight, IsOk());
  const int64_t slot_bytes = BytesOfElements(DType::kQ8_0, 7 * kFeatures);
  const AlignedBytes slot = Allocate(slot_bytes);
  std::vector<float> wide(kFeatures), dense(kFeatures);
  const AlignedBytes rounded = Allocate(Int8Bytes(kFeatures, 2 * kPanelTokens));
  ProductMemory memory = {slot.get(), slot_bytes, slot_bytes};
  memory.wide = wide.data();
  memory.wide_count = kFeatures;
  memory.dense = dense.data();
  memory.rounded = rounded.get();
  StreamedProduct product(store->get(), memory);
  // Two panels of as many features, from the input that there is.
  const PanelView panels = {Floats(input_), kFeatures * kPanelTokens};
  std::vector<float> actual(kRows * kTokens);
  const AlignedBytes part = Allocate(2 * 5 * kPanelTokens * sizeof(float));
  const auto use = [&](const IndexRange& rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t token = 0; token < kTokens; ++token) {
        actual[row * kTokens + token] = Floats(
            part)[(token / kPanelTokens * 5 + row - rows.begin) * kPanelTokens +
                  token % kPanelTokens];
      }
    }
    return absl::OkStatus();
  };
  ASSERT_THAT(product.MultiplyInParts(*weight, {0, kRows}, panels, 2,
                                      {Floats(part), 5, kTokens, use}),
              IsOk());
  for (int64_t token = 0; token < kTokens; ++token) {
    std::vector<float> expected(kRows);
    product.UseSingleToken(panels.data +
                               token / kPanelTokens * panels.panel_stride +
                               token % kPanelTokens,
                           kFeatures);
    ASSERT_THAT(product.Multiply(*weight, {0, kRows}, {0, kFeatures}, {}, 0, {},
                                 {expected.data(), 1, 0}),
                IsOk());
    for (int64_t row = 0; row < kRows; ++row) {
      ASSERT_EQ(actual[row * kTokens + token], expected[row])
          << "row " << row << ", token " << token;
    }
  }
}

// Quantised rows of a tile become floats a few at a time. The result must have
// the bits of a product with all rows as floats.
TEST_F(StreamedProductTest, HasTheBitsOfWidenedQuantisedWeights) {
  constexpr int64_t kBlocks = 768;  // columns
  std::mt19937 random(3);
  for (const DType type : {DType::kQ8_0, DType::kQ4_0, DType::kQ6K}) {
    GgufHeader header;
    header.AddTensor("m", type, {kRows, kBlocks});
    std::string data(static_cast<size_t>(header.data_bytes()), '\0');
    const DTypeBlock block = BlockOf(type);
    for (size_t i = 0; i < data.size(); ++i) {
      // Keeps scales at most 1: the high byte of the scale is the second byte
      // of a block, or in Q6_K its last.
      const size_t place = i % static_cast<size_t>(block.bytes);
      const bool is_scale = type == DType::kQ6K ? place == 209 : place == 1;
      data[i] = static_cast<char>(is_scale ? random() % 0x3c : random() % 256);
    }
    const std::string path =
        WriteTestFile("quantised.gguf", header.Build() + data);
    std::vector<float> wide(kRows * kBlocks);
    WidenToFloat(type, data.data(), kRows * kBlocks, wide.data());
    const AlignedBytes input =
        Allocate(kBlocks * kPanels * kPanelTokens * sizeof(float));
    for (int64_t i = 0; i < kBlocks * kPanels * kPanelTokens; ++i) {
      Floats(input)[i] = static_cast<float>(random() % 1000) / 1000 - 0.5f;
    }
    const PanelView panels = {Floats(input), kBlocks * kPanelTokens};
    const int64_t count = kRows * kPanels * kPanelTokens;
    const AlignedBytes expected = Allocate(count * sizeof(float));
    const ProductEpilogue epilogue = {{bias_.data(), false}, Activation::kSilu};
    MultiplyPanels({wide.data(), kBlocks, 1}, kRows, kBlocks, panels, kPanels,
                   epilogue,
                   {Floats(expected), kPanelTokens, kRows * kPanelTokens});
    for (const WeightBackend backend : kWeightBackends) {
      const auto store = WeightStore::Open(path, backend);
      ASSERT_THAT(store, IsOk());
      const auto weight = (*store)->Find("m");
      ASSERT_THAT(weight, IsOk());
      for (const int64_t rows_at_once : {1, 3, 100}) {
        ProductMemory memory;
        memory.tile_bytes = BytesOfElements(type, 7 * kBlocks);
        memory.slot_bytes = memory.tile_bytes + 2 * 4096;
        const AlignedBytes slot = Allocate(memory.slot_bytes);
        memory.slot = slot.get();
        std::vector<float> room(rows_at_once * kBlocks);
        memory.wide = room.data();
        memory.wide_count = static_cast<int64_t>(room.size());
        std::vector<float> dense(kBlocks);
        memory.dense = dense.data();
        StreamedProduct product(store->get(), memory);
        const AlignedBytes actual = Allocate(count * sizeof(float));
        ASSERT_THAT(
            product.Multiply(
                *weight, {0, kRows}, {0, kBlocks}, panels, kPanels, epilogue,
                {Floats(actual), kPanelTokens, kRows * kPanelTokens}),
            IsOk());
        EXPECT_TRUE(std::equal(Floats(actual), Floats(actual) + count,
                               Floats(expected)))
            << DTypeName(type) << " " << WeightBackendName(backend);
        product.UseSingleToken(Floats(input), kBlocks);
        std::vector<float> one(kRows);
        ASSERT_THAT(product.Multiply(*weight, {0, kRows}, {0, kBlocks}, {}, 0,
                                     epilogue, {one.data(), 1, 0}),
                    IsOk());
        std::vector<float> expected_one(kRows);
        MultiplyVector(DType::kF32, wide.data(), kBlocks, kRows, kBlocks,
                       dense.data(), epilogue, expected_one.data(), 1);
        EXPECT_EQ(one, expected_one)
            << DTypeName(type) << " " << WeightBackendName(backend);
      }
    }
  }
}

// A matrix of a file seen as transposed: its rows are the inputs. It has 300
// outputs and 700 inputs in three blocks.
class TransposedProductTest : public StreamedProductTest {
 protected:
  static constexpr int64_t kSums = 300;
  static constexpr int64_t kCount = kSums * kPanels * kPanelTokens;

  TransposedProductTest()
      : transposed_(kColumns * kSums),
        expected_(Allocate(kCount * sizeof(float))) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (float& value : transposed_) value = normal(random);
    transposed_path_ = WriteTestFile(
        "transposed.safetensors",
        SafetensorsBytes(
            R"({"m":{"dtype":"F32","shape":[700,300],)"
            R"("data_offsets":[0,840000]}})",
            absl::string_view(reinterpret_cast<const char*>(transposed_.data()),
                              transposed_.size() * sizeof(float))));
    Fill(expected_);
    MultiplyPanels({transposed_.data(), 1, kSums}, kSums, kColumns, Input(0),
                   kPanels, EpilogueOfAll(),
                   {Floats(expected_), kPanelTokens, kSums * kPanelTokens});
  }

  // Starts the sums at the bias, for which any numbers will do.
  ProductEpilogue EpilogueOfAll() const {
    return {{transposed_.data(), true}, Activation::kGeluTanh};
  }

  static void Fill(const AlignedBytes& bytes) {
    std::fill_n(Floats(bytes), kCount, 0.25f);
  }

  // Multiplies in two calls, cut between outputs.
  void ExpectTheBitsOfAll(StreamedProduct* product, const Weight& weight) {
    const AlignedBytes actual = Allocate(kCount * sizeof(float));
    Fill(actual);
    for (const IndexRange outputs : {IndexRange{0, 10}, {10, kSums}}) {
      ProductEpilogue part = EpilogueOfAll();
      part.bias += outputs.begin;
      ASSERT_THAT(product->MultiplyTransposed(
                      weight, outputs, {0, kColumns}, Input(0), kPanels, part,
                      {Floats(actual) + outputs.begin * kPanelTokens,
                       kPanelTokens, kSums * kPanelTokens}),
                  IsOk());
    }
    EXPECT_TRUE(
        std::equal(Floats(actual), Floats(actual) + kCount, Floats(expected_)));
  }

  void ExpectTheBitsOfTheFirstToken(StreamedProduct* product,
                                    const Weight& weight) {
    const AlignedBytes actual = Allocate(kCount * sizeof(float));
    Fill(actual);
    product->UseSingleToken(Floats(input_), kColumns);
    ASSERT_THAT(product->MultiplyTransposed(weight, {0, kSums}, {0, kColumns},
                                            {}, 1, EpilogueOfAll(),
                                            {Floats(actual), kPanelTokens, 0}),
                IsOk());
    for (int64_t i = 0; i < kSums; ++i) {
      ASSERT_EQ(Floats(actual)[i * kPanelTokens],
                Floats(expected_)[i * kPanelTokens])
          << i;
      ASSERT_EQ(Floats(actual)[i * kPanelTokens + 1], 0.25f);
    }
  }

  std::vector<float> transposed_;
  AlignedBytes expected_;
  std::string transposed_path_;
};

TEST_F(TransposedProductTest, HasTheBitsOfTheWholeTransposedProduct) {
  for (const WeightBackend backend :
       {WeightBackend::kResident, WeightBackend::kPread, WeightBackend::kDirect,
        WeightBackend::kMmap}) {
    const auto store = WeightStore::Open(transposed_path_, backend);
    ASSERT_THAT(store, IsOk());
    const auto weight = (*store)->Find("m");
    for (const int64_t tile_bytes : {16384, 99999, 400000, 2000000}) {
      SCOPED_TRACE(testing::Message()
                   << WeightBackendName(backend) << ", " << tile_bytes);
      const AlignedBytes slot = Allocate(tile_bytes);
      const AlignedBytes dense = Allocate(kColumns * sizeof(float));
      std::vector<float> sums(177);
      StreamedProduct product(
          store->get(),
          {slot.get(), tile_bytes, tile_bytes, nullptr, 0, Floats(dense),
           sums.data(), static_cast<int64_t>(sums.size())});
      ExpectTheBitsOfAll(&product, *weight);
      ExpectTheBitsOfTheFirstToken(&product, *weight);
    }
  }
}

// A tile for many tokens has kSumBlock rows, even if the plan allows fewer.
TEST_F(TransposedProductTest, SaysWhenASlotHoldsNoBlockOfRows) {
  const auto store = WeightStore::Open(transposed_path_, WeightBackend::kPread);
  ASSERT_THAT(store, IsOk());
  const auto weight = (*store)->Find("m");
  const AlignedBytes slot = Allocate(1 << 20);
  StreamedProduct product(store->get(),
                          {slot.get(), 256, 256, nullptr, 0, nullptr});
  const AlignedBytes output = Allocate(kCount * sizeof(float));
  EXPECT_THAT(product.MultiplyTransposed(
                  *weight, {0, kSums}, {0, kColumns}, Input(0), kPanels, {},
                  {Floats(output), kPanelTokens, kSums * kPanelTokens}),
              StatusIs(absl::StatusCode::kInternal,
                       testing::HasSubstr("a plan's slot holds no tile")));
}

}  // namespace
}  // namespace footprint

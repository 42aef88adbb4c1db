// Compares the bits of the kernels' results with constants. Every machine and
// instruction set gives one of two results, with fused multiply-add or without,
// so x86-64 and aarch64 are compared although no machine runs both.

#include <algorithm>
#include <cstdint>

#include "footprint/base/files/fingerprint.h"
#include "footprint/base/memory/line_floats.h"
#include "footprint/base/simd/activation.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kRows = 37;
constexpr int64_t kColumns = 515;  // more than two blocks of a sum
constexpr int64_t kPanels = 3;

// Memory at a cache line, as kernels require it.
struct Floats {
  explicit Floats(int64_t size) : data(AllocateLineFloats(size)), count(size) {
    std::fill_n(data.get(), count, 0.0f);
  }
  LineFloats data;
  int64_t count;
};

// Returns numbers between -1 and 1 with all digits in use. They are quotients,
// which every machine rounds alike.
Floats Numbers(int64_t count, int64_t step) {
  Floats numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers.data[static_cast<size_t>(i)] =
        static_cast<float>((i * step) % 2003 - 1001) / 1009.0f;
  }
  return numbers;
}

uint64_t HashBits(const Floats& numbers) {
  return Fingerprint(numbers.data.get(),
                     numbers.count * static_cast<int64_t>(sizeof(float)));
}

TEST(SameBitsTest, ProductOfPanels) {
  const Floats matrix = Numbers(kRows * kColumns, 7919);
  const Floats input = Numbers(kColumns * kPanels * kPanelTokens, 104729);
  const Floats bias = Numbers(kRows, 31);
  const int64_t stride = kColumns * kPanelTokens;
  ForEachVectorTarget([&](bool fused) {
    Floats output(kRows * kPanels * kPanelTokens);
    MultiplyPanels({matrix.data.get(), kColumns, 1}, kRows, kColumns,
                   {input.data.get(), stride}, kPanels,
                   {{bias.data.get()}, Activation::kGelu},
                   {output.data.get(), kPanelTokens, kRows * kPanelTokens});
    EXPECT_EQ(HashBits(output),
              fused ? 6533331240577997180u : 12875534479983847810u);
  });
}

TEST(SameBitsTest, ProductOfOneToken) {
  const Floats matrix = Numbers(kRows * kColumns, 7919);
  const Floats input = Numbers(kColumns, 104729);
  ForEachVectorTarget([&](bool fused) {
    Floats output(kRows);
    MultiplyVector(DType::kF32, matrix.data.get(), kColumns, kRows, kColumns,
                   input.data.get(), {}, output.data.get(), 1);
    EXPECT_EQ(HashBits(output),
              fused ? 10143379743459435451u : 13613006630604758296u);
  });
}

TEST(SameBitsTest, LayerNorm) {
  const Floats gain = Numbers(kColumns, 13);
  const Floats bias = Numbers(kColumns, 31);
  const Floats input = Numbers(kColumns * kPanels * kPanelTokens, 104729);
  ForEachVectorTarget([&](bool fused) {
    Floats output(input.count);
    LayerNorm(input.data.get(), kColumns, kPanels,
              {gain.data.get(), bias.data.get(), 1e-5f}, output.data.get());
    EXPECT_EQ(HashBits(output),
              fused ? 4587993082507046111u : 10672056583247896950u);
  });
}

TEST(SameBitsTest, Softmax) {
  ForEachVectorTarget([&](bool fused) {
    Floats scores = Numbers(kRows * kPanelTokens, 7919);
    ScaledSoftmax(kRows, /*first_end=*/30, /*scale=*/0.125f, scores.data.get());
    EXPECT_EQ(HashBits(scores),
              fused ? 3327932716244335053u : 10580757528928186155u);
  });
}

TEST(SameBitsTest, Activations) {
  struct Bits {
    Activation activation;
    uint64_t fused;
    uint64_t plain;
  };
  for (const Bits& bits :
       {Bits{Activation::kGelu, 5506011922377766131u, 10194732760113372551u},
        Bits{Activation::kGeluTanh, 6928274064525651330u, 172360697985876446u},
        Bits{Activation::kRelu, 5759920237989678318u, 5759920237989678318u}}) {
    ForEachVectorTarget([&](bool fused) {
      Floats values = Numbers(1000, 7919);
      Activate(bits.activation, 1000, values.data.get());
      EXPECT_EQ(HashBits(values), fused ? bits.fused : bits.plain)
          << static_cast<int>(bits.activation);
    });
  }
}

}  // namespace
}  // namespace footprint

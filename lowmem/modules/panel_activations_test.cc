#include "footprint/lowmem/modules/panel_activations.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(PanelActivationsTest, GiveBackTheRowsTheyAreMadeOf) {
  for (const int64_t tokens : {0, 1, 15, 16, 17, 40}) {
    for (const int64_t features : {1, 3, 16}) {
      std::vector<float> rows;
      for (int64_t i = 0; i < tokens * features; ++i) {
        rows.push_back(static_cast<float>(i + 1));
      }
      const PanelActivations activations =
          PanelActivations::FromRows(rows, features);
      EXPECT_EQ(activations.tokens(), tokens);
      EXPECT_EQ(activations.ToRows(), rows);
    }
  }
}

TEST(PanelActivationsTest, LieAsKernelsExpectThem) {
  PanelActivations activations(/*tokens=*/18, /*features=*/3);
  EXPECT_EQ(activations.panels(), 2);
  activations.At(17, 2) = 5;
  EXPECT_EQ(activations.data()[3 * 16 + 2 * 16 + 1], 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(activations.data()) % 64, 0u);
}

TEST(PanelActivationsTest, PadWithZeros) {
  const PanelActivations activations =
      PanelActivations::FromRows({1, 2, 3, 4}, /*features=*/2);
  for (int64_t token = 2; token < 16; ++token) {
    EXPECT_EQ(activations.At(token, 0), 0);
    EXPECT_EQ(activations.At(token, 1), 0);
  }
}

TEST(PanelActivationsTest, KeepTheirNumbersWhenMoved) {
  PanelActivations from = PanelActivations::FromRows({7}, 1);
  const PanelActivations to = std::move(from);
  EXPECT_EQ(to.At(0, 0), 7);
}

}  // namespace
}  // namespace footprint

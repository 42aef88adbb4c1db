// Loads a value once, shares it, and evicts it.

#include <vector>

#include "absl/status/statusor.h"
#include "footprint/memo/memo.h"
#include "gtest/gtest.h"

namespace {

TEST(SharedTableTest, IsLoadedOnceAndEvicted) {
  int load_count = 0;
  absl::StatusOr<footprint::Memo<std::vector<int>>> table =
      footprint::MakeMemo<std::vector<int>>("squares", [&load_count] {
        ++load_count;
        std::vector<int> squares;
        for (int i = 0; i < 1000; ++i) squares.push_back(i * i);
        return squares;
      });
  ASSERT_TRUE(table.ok()) << table.status();
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<footprint::Handle<std::vector<int>>> squares =
        table->Get();
    ASSERT_TRUE(squares.ok()) << squares.status();
    EXPECT_EQ((**squares)[12], 144);
  }
  EXPECT_EQ(load_count, 1);
  EXPECT_TRUE(table->Evict().ok());
  EXPECT_FALSE(table->statistics().is_loaded);
}

}  // namespace

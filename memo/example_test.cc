// The README's examples.

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/memo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

std::vector<int> FirstSquares(int count) {
  std::vector<int> squares;
  for (int i = 0; i < count; ++i) squares.push_back(i * i);
  return squares;
}

absl::Status PrintASquare(std::ostream& out) {
  // region squares
  const auto squares = footprint::MakeMemo<std::vector<int>>(
      "squares", [] { return FirstSquares(1000); });
  if (!squares.ok()) return squares.status();
  {
    const auto handle = squares->Get();  // loads; further ones share
    if (!handle.ok()) return handle.status();
    out << (**handle)[12] << "\n";  // 144
  }
  out << footprint::ReadMemoTotals().loaded_count << "\n";  // 1
  if (absl::Status evicted = squares->Evict(); !evicted.ok()) return evicted;
  out << footprint::ReadMemoTotals().loaded_count << "\n";  // 0
  // endregion
  return absl::OkStatus();
}

using Model = std::vector<float>;

absl::StatusOr<Model> ReadModel(const std::string& path) {
  if (path.empty()) return absl::NotFoundError("no path");
  return Model(1000, 0.5f);
}

// region predict_with_each
absl::Status PredictWithEach(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    absl::StatusOr<footprint::Memo<Model>> model =
        footprint::MakeMemo<Model>(path, [path] { return ReadModel(path); });
    if (!model.ok()) return model.status();
    {
      absl::StatusOr<footprint::Handle<Model>> handle = model->Get();
      if (!handle.ok()) return handle.status();
      if ((*handle)->size() != 1000) return absl::InternalError("wrong size");
    }
    absl::Status evicted = model->Evict();
    if (!evicted.ok()) return evicted;
  }
  return absl::OkStatus();
}
// endregion

TEST(ExampleTest, LoadsSharesAndEvicts) {
  std::ostringstream out;
  EXPECT_THAT(PrintASquare(out), footprint::IsOk());
  EXPECT_EQ(out.str(), "144\n1\n0\n");
}

TEST(ExampleTest, OneModelAtATime) {
  EXPECT_THAT(PredictWithEach({"a", "b", "c"}), footprint::IsOk());
  EXPECT_EQ(footprint::ReadMemoTotals().loaded_count, 0);
}

}  // namespace

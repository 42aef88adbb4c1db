// The README's example.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/memo/memo.h"
#include "gtest/gtest.h"

namespace {

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

TEST(ExampleTest, OneModelAtATime) {
  EXPECT_TRUE(PredictWithEach({"a", "b", "c"}).ok());
  EXPECT_EQ(footprint::ReadMemoTotals().loaded_count, 0);
}

}  // namespace

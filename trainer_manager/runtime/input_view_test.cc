#include "footprint/trainer_manager/runtime/input_view.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

const TensorType kRows = {{2, 3}};
const TensorType kIndices = {{4}, DType::kI32};

absl::Status Check(const TensorType& type, int64_t parts,
                   const InputView& values) {
  return CheckInputView("input", 7, type, parts, values);
}

TEST(InputViewTest, RefersToTheValues) {
  const std::vector<float> floats(5);
  const InputView view = absl::MakeConstSpan(floats);
  EXPECT_EQ(view.data(), floats.data());
  EXPECT_EQ(view.size(), 5u);
  EXPECT_EQ(view.type(), DType::kF32);
  const std::vector<int32_t> indices(2);
  EXPECT_EQ(InputView(absl::MakeConstSpan(indices)).type(), DType::kI32);
}

TEST(CheckInputViewTest, TakesWhatEveryPartNeedsTogether) {
  const std::vector<float> rows(12);
  const std::vector<int32_t> indices(4);
  EXPECT_THAT(Check(kRows, 2, absl::MakeConstSpan(rows)), IsOk());
  EXPECT_THAT(Check(kIndices, 1, absl::MakeConstSpan(indices)), IsOk());
}

TEST(CheckInputViewTest, NamesTheShapeOfTheWholeBatch) {
  const std::vector<float> rows(6);
  const absl::Status status = Check(kRows, 2, absl::MakeConstSpan(rows));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("input 7 takes 12 F32 values of shape [4, 3], not 6 F32"));
  const std::vector<int32_t> indices(4);
  EXPECT_THAT(
      std::string(Check(kIndices, 2, absl::MakeConstSpan(indices)).message()),
      HasSubstr("takes 8 I32 values of shape [8], not 4 I32"));
}

TEST(CheckInputViewTest, RefusesAnotherType) {
  const std::vector<int32_t> indices(6);
  EXPECT_THAT(
      std::string(Check(kRows, 1, absl::MakeConstSpan(indices)).message()),
      HasSubstr("6 F32 values of shape [2, 3], not 6 I32"));
}

TEST(CheckInputViewTest, RefusesAddressesThatHoldNoValues) {
  alignas(4) char bytes[32];
  const float* const askew = reinterpret_cast<const float*>(bytes + 2);
  EXPECT_THAT(
      std::string(Check(kRows, 1, absl::Span<const float>(askew, 6)).message()),
      HasSubstr("lies 2 bytes behind a multiple of 4"));
  const float* const nowhere = nullptr;
  EXPECT_THAT(
      std::string(
          Check(kRows, 1, absl::Span<const float>(nowhere, 6)).message()),
      HasSubstr("lies at a null address"));
}

}  // namespace
}  // namespace footprint

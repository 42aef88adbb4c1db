#include "footprint/lowmem/streaming/budget_choice.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

TEST(ChooseBudgetTest, IsTheLeastOfThoseThatCostNextToNoTime) {
  for (const int64_t enough_bytes : {1000000, 3333333, 50 * 1000000}) {
    const auto seconds = [&](int64_t budget_bytes) -> absl::StatusOr<double> {
      return budget_bytes >= enough_bytes ? 1.05 : 1.2;
    };
    const auto predict = [&](int64_t budget_bytes) -> absl::StatusOr<double> {
      return budget_bytes == kAmpleBudgetBytes ? 1.0 : seconds(budget_bytes);
    };
    const auto choice = ChooseBudget(123456, predict);
    ASSERT_THAT(choice, IsOk());
    EXPECT_EQ(choice->budget_bytes, (enough_bytes + 4095) / 4096 * 4096);
    EXPECT_EQ(choice->least_bytes, 123456);
    EXPECT_EQ(choice->ample_bytes, kAmpleBudgetBytes);
    EXPECT_DOUBLE_EQ(choice->slowdown, 1.05);
    EXPECT_DOUBLE_EQ(choice->least_slowdown, 1.2);
  }
}

// The real time may exceed a prediction that only just meets the limit.
TEST(ChooseBudgetTest, AllowsForWhatAPredictionIsShortBy) {
  const auto choice =
      ChooseBudget(4096, [](int64_t budget_bytes) -> absl::StatusOr<double> {
        if (budget_bytes < kMebibyte) return kMostSlowdown;
        return budget_bytes < 2 * kMebibyte ? kMostPredictedSlowdown : 1.0;
      });
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(choice->budget_bytes, kMebibyte);
  EXPECT_LE(choice->slowdown * (1 + kPredictionShortBy), kMostSlowdown);
}

TEST(ChooseBudgetTest, IsTheLeastPossibleWhereThatIsFastEnough) {
  const auto choice = ChooseBudget(
      123456, [](int64_t) -> absl::StatusOr<double> { return 5.0; });
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(choice->budget_bytes, 123456);
  EXPECT_DOUBLE_EQ(choice->slowdown, 1);
}

TEST(ChooseBudgetTest, IsTheAmpleOneWhereAllOthersAreSlow) {
  const auto choice =
      ChooseBudget(4096, [](int64_t budget_bytes) -> absl::StatusOr<double> {
        return budget_bytes < kAmpleBudgetBytes ? 2.0 : 1.0;
      });
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(choice->budget_bytes, kAmpleBudgetBytes);
  EXPECT_DOUBLE_EQ(choice->slowdown, 1);
}

// Activations alone may take more than an ample budget.
TEST(ChooseBudgetTest, GivesLargeActivationsRoomBesides) {
  const int64_t least_bytes = 300 * kMebibyte;
  const auto choice = ChooseBudget(
      least_bytes, [&](int64_t budget_bytes) -> absl::StatusOr<double> {
        EXPECT_GE(budget_bytes, least_bytes);
        return budget_bytes >= least_bytes + kMebibyte ? 1.0 : 3.0;
      });
  ASSERT_THAT(choice, IsOk());
  EXPECT_EQ(choice->budget_bytes, least_bytes + kMebibyte);
  EXPECT_GT(choice->ample_bytes, least_bytes + kMebibyte);
}

TEST(ChooseBudgetTest, PassesOnWhatFails) {
  EXPECT_THAT(ChooseBudget(4096,
                           [](int64_t) -> absl::StatusOr<double> {
                             return absl::UnavailableError("no plan");
                           }),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace footprint

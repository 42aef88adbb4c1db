#include "footprint/trainer_manager/planner/plan.h"

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

TEST(CheckRequestsTest, AcceptsWhatCanBePlanned) {
  EXPECT_THAT(CheckRequests({}), IsOk());
  EXPECT_THAT(CheckRequests({{"a", -5, -4, 1, 4096}, {"", 0, 9, 7}}), IsOk());
}

TEST(CheckRequestsTest, RefusesALifespanWithoutAStep) {
  const absl::Status status = CheckRequests({{"a", 0, 1, 1}, {"b", 3, 3, 1}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_NE(Text(status).find("\"b\" lives from step 3"), std::string::npos);
}

TEST(CheckRequestsTest, RefusesZeroAndNegativeSizes) {
  for (const int64_t size :
       {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    const absl::Status status = CheckRequests({{"", 0, 1, size}});
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << size;
    EXPECT_NE(Text(status).find("#0"), std::string::npos);
  }
}

TEST(CheckRequestsTest, RefusesAlignmentsThatAreNoPowerOfTwo) {
  for (const int64_t alignment : {0, -8, 3, 12}) {
    EXPECT_THAT(CheckRequests({{"a", 0, 1, 1, alignment}}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << alignment;
  }
}

TEST(CheckRequestsTest, RefusesWhatDoesNotFit64BitsSideBySide) {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(CheckRequests({{"a", 0, 1, kMaximum}}), IsOk());
  EXPECT_THAT(CheckRequests({{"a", 0, 1, kMaximum}, {"b", 1, 2, 1}}),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(CheckRequests({{"a", 0, 1, kMaximum, 2}}),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(PlanMethodTest, NamesDiffer) {
  std::set<std::string> names;
  for (const PlanMethod method : AllPlanMethods()) {
    names.insert(std::string(PlanMethodName(method)));
  }
  EXPECT_EQ(names.size(), AllPlanMethods().size());
  EXPECT_EQ(names.count("exact"), 1);
}

}  // namespace
}  // namespace footprint

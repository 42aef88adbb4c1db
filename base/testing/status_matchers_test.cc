#include "footprint/base/testing/status_matchers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointee;

const absl::Status kGone = absl::NotFoundError("a.bin is gone");

// Returns a matcher's explanation of a value.
template <typename Matcher, typename Value>
std::string Explain(const Matcher& matcher, const Value& value) {
  testing::StringMatchResultListener listener;
  testing::ExplainMatchResult(matcher, value, &listener);
  return listener.str();
}

template <typename Value, typename Matcher>
std::string Describe(const Matcher& matcher) {
  return testing::DescribeMatcher<Value>(matcher);
}

TEST(IsOkTest, MatchesAStatusAndAStatusOr) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(kGone, Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(kGone), Not(IsOk()));
}

TEST(IsOkTest, SaysTheStatusThatIsNotOk) {
  EXPECT_EQ(Explain(IsOk(), kGone), "which is NOT_FOUND: a.bin is gone");
  EXPECT_EQ(Explain(IsOk(), absl::StatusOr<int>(kGone)),
            "which is NOT_FOUND: a.bin is gone");
  EXPECT_EQ(Explain(IsOk(), absl::OkStatus()), "");
  EXPECT_EQ(Describe<absl::Status>(IsOk()), "is OK");
  EXPECT_EQ(Describe<absl::Status>(Not(IsOk())), "is not OK");
}

TEST(IsOkTest, MatchesAValueThatIsNeitherCopiedNorPrinted) {
  struct Opaque {};
  const absl::StatusOr<std::unique_ptr<Opaque>> value =
      std::make_unique<Opaque>();
  EXPECT_THAT(value, IsOk());
}

TEST(IsOkAndHoldsTest, ComparesTheValue) {
  const absl::StatusOr<int> three = 3;
  EXPECT_THAT(three, IsOkAndHolds(3));
  EXPECT_THAT(three, IsOkAndHolds(Gt(2)));
  EXPECT_THAT(three, Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<int>(kGone), Not(IsOkAndHolds(_)));
  EXPECT_THAT((absl::StatusOr<std::vector<int>>({1, 2})),
              IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(absl::StatusOr<std::string>("text"), IsOkAndHolds("text"));
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7)),
              IsOkAndHolds(Pointee(7)));
}

TEST(IsOkAndHoldsTest, SaysTheStatusOrTheMismatch) {
  EXPECT_EQ(Explain(IsOkAndHolds(3), absl::StatusOr<int>(kGone)),
            "which is NOT_FOUND: a.bin is gone");
  EXPECT_EQ(Describe<absl::StatusOr<int>>(IsOkAndHolds(3)),
            "is OK and holds a value that is equal to 3");
  EXPECT_EQ(Describe<absl::StatusOr<int>>(Not(IsOkAndHolds(3))),
            "is not OK, or holds a value that isn't equal to 3");
}

TEST(StatusIsTest, ComparesTheCode) {
  EXPECT_THAT(kGone, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(absl::StatusOr<int>(kGone),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(kGone, Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(kGone, StatusIs(AnyOf(absl::StatusCode::kInternal,
                                    absl::StatusCode::kNotFound)));
  EXPECT_THAT(absl::OkStatus(), StatusIs(absl::StatusCode::kOk));
}

TEST(StatusIsTest, ComparesTheMessage) {
  EXPECT_THAT(kGone, StatusIs(absl::StatusCode::kNotFound, "a.bin is gone"));
  EXPECT_THAT(kGone, StatusIs(_, HasSubstr("a.bin")));
  EXPECT_THAT(kGone, Not(StatusIs(_, "a.bin")));
  EXPECT_THAT(kGone,
              Not(StatusIs(absl::StatusCode::kInternal, HasSubstr("a.bin"))));
}

TEST(StatusIsTest, SaysTheStatusOnAMismatch) {
  EXPECT_EQ(Explain(StatusIs(absl::StatusCode::kInternal), kGone),
            "which is NOT_FOUND: a.bin is gone");
  EXPECT_THAT(Describe<absl::Status>(StatusIs(_, "gone")),
              HasSubstr("a message that is equal to \"gone\""));
  EXPECT_THAT(Describe<absl::Status>(Not(StatusIs(_, "gone"))),
              HasSubstr("or a message that isn't equal to \"gone\""));
}

}  // namespace
}  // namespace footprint

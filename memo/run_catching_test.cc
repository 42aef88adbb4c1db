#include "footprint/memo/run_catching.h"

#include <new>
#include <stdexcept>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

TEST(RunCatchingTest, PassesOnWhatIsReturned) {
  EXPECT_THAT(RunCatching("it", [] { return absl::OkStatus(); }), IsOk());
  EXPECT_EQ(RunCatching("it", [] { return absl::DataLossError("x"); }),
            absl::DataLossError("x"));
}

TEST(RunCatchingTest, SaysWhoThrewWhat) {
  EXPECT_EQ(RunCatching("it",
                        []() -> absl::Status {
                          throw std::runtime_error("bad weather");
                        }),
            absl::InternalError("it threw: bad weather"));
  EXPECT_EQ(RunCatching("it", []() -> absl::Status { throw std::bad_alloc(); }),
            absl::ResourceExhaustedError("it ran out of memory"));
  EXPECT_EQ(
      RunCatching("it", []() -> absl::Status { throw 3; }),
      absl::InternalError("it threw something that is not a std::exception"));
}

}  // namespace
}  // namespace footprint::memo_internal
